import type { BlockResult, PlanBlock } from '../../core/turn/extension-points.js';

/**
 * What a block comes to by its deadline: `deadline` where it is late, whatever it answers afterwards, and
 * `search_failed` where it throws. Never throws itself.
 */
export async function resolvedBy(
  deadline: AbortSignal,
  resolve: () => Promise<BlockResult>,
  onFault: (error: unknown) => void,
): Promise<BlockResult> {
  const late = new Promise<BlockResult>((settle) => {
    const end = (): void => settle(empty('deadline'));
    if (deadline.aborted) end();
    else deadline.addEventListener('abort', end, { once: true });
  });
  const attempt = async (): Promise<BlockResult> => resolve();
  const own = attempt().catch((error: unknown) => {
    if (deadline.aborted) return empty('deadline');
    onFault(error);
    return empty('search_failed');
  });
  return Promise.race([own, late]);
}

/** A block as it stands in an answer. */
export function renderedBlock(
  { key, heading }: Pick<PlanBlock, 'key' | 'heading'>,
  { text, selection_count, reason }: BlockResult,
): Record<string, unknown> {
  return { key, heading, text, hit: text !== '', bytes: Buffer.byteLength(text), selection_count, reason };
}

function empty(reason: BlockResult['reason']): BlockResult {
  return { text: '', selection_count: 0, reason };
}
