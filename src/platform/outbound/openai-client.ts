import OpenAI from 'openai';
import { sdkFetch } from './sdk-fetch.js';

const VENDOR_URL = 'https://api.openai.com/v1';

/** A client that has been told everything, so that the SDK looks for nothing in the environment. */
export function openAiClient(options: {
  /** Unset: the vendor's own address. */
  baseUrl?: string;
  apiKey?: string;
  timeoutSeconds: number;
  maxRetries: number;
}): OpenAI {
  const timeoutMs = options.timeoutSeconds * 1000;
  return new OpenAI({
    baseURL: options.baseUrl ?? VENDOR_URL,
    // The SDK insists on one; without a key of ours `authorization` keeps the header off the wire.
    apiKey: options.apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: timeoutMs,
    maxRetries: options.maxRetries,
    fetch: sdkFetch(timeoutMs),
    logLevel: 'off',
  });
}

/** The header that carries the key; null takes it off. To be given with each request: it outranks the environment's. */
export function authorization(apiKey: string | undefined): { authorization: string | null } {
  return { authorization: apiKey ? `Bearer ${apiKey}` : null };
}
