import { register } from 'node:module';

// `node --import ./test/support/typescript.mjs some.ts`
register('./typescript-loader.mjs', import.meta.url);
