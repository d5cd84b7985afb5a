import tseslint from 'typescript-eslint';
import { levels } from './lint/levels.js';
import { tables } from './lint/tables.js';

/** Allowed imports: in each folder, a level imports only from the levels listed before it. */
const LEVELS = [
  {
    folder: 'src',
    levels: [
      ['base'],
      ['onnx', 'http'],
      ['measurement', 'tracing', 'zoo', 'load'],
      ['rpc', 'manifest', 'store', 'predictor', 'foreign-traces', 'composite'],
      ['processing', 'platform-documents', 'fetch', 'traced'],
      ['registry'],
      ['agent', 'directory'],
      ['generator'],
      ['evaluation'],
      ['measuring'],
      ['work', 'reference-log'],
      ['web'],
      ['command', 'server'],
      ['cli', 'client-api.ts', 'plugin-api.ts'],
    ],
  },
  {
    folder: 'src/onnx',
    levels: [['bytes', 'model'], ['operators'], ['functions', 'values'], ['read', 'write'], ['layers']],
  },
  { folder: 'src/agent', levels: [['.'], ['jobs'], ['wire', 'worker'], ['client', 'predict'], ['services', 'spread']] },
  { folder: 'src/work', levels: [['.'], ['amqp'], ['open-queue.ts']] },
  { folder: 'src/evaluation', levels: [['.'], ['wire'], ['link'], ['client', 'run']] },
  { folder: 'fuzz', levels: [['random.ts'], ['mutate'], ['targets'], ['run'], ['main.ts']] },
  { folder: 'torture', levels: [['place'], ['checks'], ['targets'], ['run'], ['main.ts']] },
  {
    folder: 'plugins/dlbricks',
    levels: [
      ['cut', 'work'],
      ['blocks'],
      ['bricks', 'predict'],
      ['estimate', 'exchange'],
      ['measure'],
      ['report'],
      ['agree', 'compare', 'sharing', 'traces'],
      ['sweep', 'advise', 'settings.ts'],
      ['generation', 'compose-all.ts', 'system-run.ts'],
      ['predict-bricks.ts'],
      ['evaluate.ts'],
      ['estimation.ts', 'cells.ts'],
      ['analyses', 'commands', 'evaluation.ts'],
      ['index.ts'],
    ],
  },
];

/** The library itself is restricted; its types may be imported anywhere. */
const ONNX_RUNTIME = {
  regex: '^onnxruntime-node$',
  message: 'Import it from src/predictor/onnxruntime/library.js, which turns its telemetry off.',
  allowTypeImports: true,
};

/** @param {string} regex @param {string} message */
const forbid = (regex, message) => ({
  '@typescript-eslint/no-restricted-imports': ['error', { patterns: [ONNX_RUNTIME, { regex, message }] }],
});

export default tseslint.config(
  { ignores: ['dist*/', 'lib/', 'out/', 'src/generated/'] },
  tseslint.configs.recommendedTypeChecked,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['{src,plugins}/**/*.ts'],
    ignores: ['src/base/own-value.ts'],
    plugins: { tables: { rules: { tables } } },
    rules: { 'tables/tables': 'error' },
  },
  {
    files: ['**/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [ONNX_RUNTIME] }] },
  },
  {
    files: ['{src,plugins,torture}/**/*.ts'],
    // The age of a file comes from the wall clock.
    ignores: ['src/base/atomic-file.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The wall clock can jump: measure and wait by performance.now().' },
      ],
    },
  },
  {
    files: ['{src,plugins}/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression:matches([callee.object.name="Math"], [callee.property.name=/^(push|unshift)$/]) > SpreadElement',
          message: 'A long list overflows the stack: use src/base/long-lists.js.',
        },
      ],
    },
  },
  ...LEVELS.map((folderLevels) => {
    const { folder } = folderLevels;
    const name = folder.replaceAll('/', '-');
    return {
      files: [`${folder}/**/*.ts`],
      plugins: { [name]: { rules: { levels } } },
      rules: { [`${name}/levels`]: ['error', folderLevels] },
    };
  }),
  {
    files: ['src/**/*.ts'],
    rules: forbid(
      '^(\\.\\./)+(plugins|bench|test|mutants|fuzz|torture)/',
      'The platform imports no plugin, benchmark or test.',
    ),
  },
  {
    files: ['plugins/**/*.ts'],
    rules: forbid('/src/(?!plugin-api\\.js$)', 'A plugin may import only src/plugin-api.ts of the platform.'),
  },
  {
    // node:test's functions return promises that its runner awaits.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    ignores: ['test/support/property.ts'],
    rules: forbid(
      '^fast-check$',
      'Import fast-check from test/support/property.js, which keeps the seeds of failures.',
    ),
  },
  {
    files: ['src/predictor/onnxruntime/library.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': 'off' },
  },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
