import { swcOptions } from './test/support/swc-options.mjs';

const shared = {
  roots: ['<rootDir>/src', '<rootDir>/test', '<rootDir>/examples', '<rootDir>/migrations'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions] },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@fastify/static$': '<rootDir>/test/support/fastify-static.mjs',
    '^@nestjs/throttler$': '<rootDir>/test/support/throttler.mjs',
  },
  setupFiles: ['reflect-metadata'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

export default {
  maxWorkers: 2,
  testTimeout: 30_000,
  reporters: ['default', '<rootDir>/test/support/count-reporter.mjs'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts', '!src/**/*.spec.ts'],
  projects: [
    { ...shared, displayName: 'pure', testMatch: ['<rootDir>/{src,examples}/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'database',
      // What takes two processes on one database can only be tried on Postgres.
      testMatch: [
        '<rootDir>/test/**/*.e2e-spec.ts',
        ...(process.env.DATABASE_URL ? ['<rootDir>/test/**/*.postgres-spec.ts'] : []),
      ],
      // Jest runs these only where a test of this project was asked for.
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
};
