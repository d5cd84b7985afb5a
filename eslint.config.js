import tseslint from 'typescript-eslint';

/** Folders of src from the bottom up. A folder imports from its own level and those below, never from above. */
const LEVELS = [
  ['onnx'],
  ['measurement', 'manifest', 'zoo', 'rpc', 'tracing'],
  ['registry', 'store', 'predictor', 'processing'],
  ['agent'],
  ['evaluation'],
  ['cli'],
];

/** @param {string} regex @param {string} message */
const forbid = (regex, message) => ({
  '@typescript-eslint/no-restricted-imports': ['error', { patterns: [{ regex, message }] }],
});

const importDirections = LEVELS.flatMap((level, height) => {
  const above = LEVELS.slice(height + 1).flat();
  const forbidden = [...above.map((folder) => `${folder}/`), 'plugin-api\\.js$', '(\\.\\./)*plugins/'];
  return level.map((folder) => ({
    files: [`src/${folder}/**/*.ts`],
    rules: forbid(`^(\\.\\./)+(${forbidden.join('|')})`, 'Imports go down only; see docs/architecture.md.'),
  }));
});

export default tseslint.config(
  { ignores: ['dist*/', 'out/', 'src/generated/'] },
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
  ...importDirections,
  {
    files: ['plugins/**/*.ts'],
    rules: forbid('/src/(?!plugin-api\\.js$)', 'A plugin uses of the platform only what src/plugin-api.ts exports.'),
  },
  {
    // node:test's functions return promises that its runner awaits.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
