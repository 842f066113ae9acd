interface SecretPattern {
  /** Said to the operator instead of the secret. */
  name: string;
  pattern: RegExp;
}

/** Formats that carry their issuer's own prefix: what looks like one of these is one. */
const SECRETS: readonly SecretPattern[] = [
  { name: 'GitHub token', pattern: /\bgh[opsur]_[A-Za-z0-9]{20,255}(?![A-Za-z0-9])/ },
  { name: 'GitHub fine-grained token', pattern: /\bgithub_pat_[A-Za-z0-9_]{20,255}/ },
  { name: 'GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}/ },
  { name: 'Anthropic key', pattern: /\bsk-ant-[A-Za-z0-9_-]{16,}/ },
  {
    name: 'OpenAI key',
    pattern: /\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,}(?![A-Za-z0-9-]))/,
  },
  { name: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/ },
  { name: 'Slack token', pattern: /\bxox[abceoprs]-[A-Za-z0-9-]{10,}/ },
  { name: 'Slack app token', pattern: /\bxapp-\d-[A-Za-z0-9-]{10,}/ },
  { name: 'Google API key', pattern: /\bAIza[A-Za-z0-9_-]{35}/ },
  { name: 'Stripe key', pattern: /\b[rs]k_live_[A-Za-z0-9]{16,}/ },
  { name: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/ },
  {
    name: 'JSON web token',
    pattern: /(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  },
  { name: 'private key', pattern: /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/ },
];

/** `xxxx…` and `****` stand for a token in documentation. */
const PLACEHOLDER = /([xX*.0])\1{11}/;

/** The kind of the first secret in a text; null where there is none. */
export function findSecret(text: string): string | null {
  for (const { name, pattern } of SECRETS) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined && !PLACEHOLDER.test(found)) return name;
  }
  return null;
}
