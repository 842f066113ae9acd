// @nestjs/throttler 6 is CommonJS and requires Nest 12, which is ESM: Node 20.19 can do that, Jest on Node 20 cannot.
// This stands in for the package in tests: its own files, run with the ES modules that they ask for.
import * as asyncHooks from 'node:async_hooks';
import * as crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as net from 'node:net';
import * as common from '@nestjs/common';
import * as core from '@nestjs/core';

const builtIn = { '@nestjs/common': common, '@nestjs/core': core, async_hooks: asyncHooks, 'node:crypto': crypto, net };
const files = new URL('../../node_modules/@nestjs/throttler/dist/', import.meta.url);
const loaded = new Map();

function load(name) {
  const known = loaded.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const requireFrom = (request) => builtIn[request] ?? load(request.replace('./', ''));
  new Function('require', 'module', 'exports', readFileSync(new URL(`${name}.js`, files), 'utf8'))(
    requireFrom,
    module,
    module.exports,
  );
  return module.exports;
}

export const { ThrottlerGuard, ThrottlerModule } = load('index');
