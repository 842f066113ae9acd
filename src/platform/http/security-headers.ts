/** The page at /docs runs a script and styles that stand in it. */
const DOCS =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";
const CLOSED = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/**
 * What every answer tells a browser: not to guess its type, not to run, frame, embed or keep it, and not to tell others its
 * address. TLS, and with it `Strict-Transport-Security`, is the business of what stands before the service.
 *
 * @param url of the request
 */
export function securityHeaders(url: string): Record<string, string> {
  const isDocs = /^\/docs(?:[/?]|$)/.test(url);
  return {
    'content-security-policy': `${isDocs ? DOCS : "default-src 'none'"}; ${CLOSED}`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    ...(isDocs ? {} : { 'cache-control': 'no-store' }),
  };
}
