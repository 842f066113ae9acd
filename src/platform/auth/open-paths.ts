/** What answers without a key: it holds no data. */
export function isOpenPath(url: string): boolean {
  const path = url.split('?', 1)[0] ?? '';
  return (
    path === '/openapi.json' ||
    path === '/docs' ||
    path.startsWith('/docs/') ||
    /^\/health\/(live|ready)\/?$/.test(path)
  );
}
