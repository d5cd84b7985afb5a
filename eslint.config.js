import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';

/** Folders of src from the bottom up: a folder may import from its own level and from those below. */
const LEVELS = [
  ['errors', 'generated'],
  ['onnx'],
  ['measurement', 'manifest', 'zoo'],
  ['registry', 'work', 'store', 'tracing', 'predictor'],
  ['evaluation', 'agent'],
  ['cli'],
];

export default tseslint.config(
  { ignores: ['dist*/', 'out/', 'src/generated/'] },
  tseslint.configs.recommendedTypeChecked,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { boundaries },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // node:test's functions return promises that its runner awaits.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
export { LEVELS };
