import { describe, expect, it } from '@jest/globals';
import { appended, asListItem, isTransient, noteLine, repeatsLines, saysAlready } from './skill-notes.js';

const BODY = `# Refund an order

1. Look up the order with get_order.
2. Check that it was paid by card.
3. Do not refund a gift card.

- Observed in practice: Orders over 500 EUR need a second approval.`;

describe('the line of a note', () => {
  it.each([
    ['Orders may be split.', '- Observed in practice: Orders may be split.'],
    ['  - Orders\n  may be split. ', '- Observed in practice: Orders   may be split.'],
    ['Observed in practice: Orders may be split.', '- Observed in practice: Orders may be split.'],
    ['- Counter-example: Orders may be split.', '- Observed in practice: Orders may be split.'],
    ['café 👩‍💻', '- Observed in practice: café 👩‍💻'],
  ])('of %j', (note, line) => {
    expect(noteLine('done', note)?.replace(/\s+/g, ' ')).toBe(line.replace(/\s+/g, ' '));
  });

  it('is none of a blank note', () => {
    for (const note of ['', ' \n ', '- ', 'Counter-example:']) expect(noteLine('failed', note)).toBeNull();
  });

  it('is cut visibly, and not through an emoji', () => {
    const line = noteLine('failed', `${'x'.repeat(399)}😀 and more`)!;
    expect(line).toBe(`- Counter-example: ${'x'.repeat(399)}…`);
    expect(line.isWellFormed()).toBe(true);
  });
});

describe('a fault that passes by', () => {
  it.each([
    'The lookup timed out after 30 s.',
    'get_order ran into a timeout.',
    'The API hit its rate limit.',
    'rate-limited by Slack',
    'Too many requests were sent.',
    'There was an outage of the payment service.',
    'The search service was down.',
    'The API is currently unavailable.',
    'Connection reset by peer.',
    'HTTP 503 from get_order.',
    'error code: 429',
    'ECONNRESET while posting',
    'The model was overloaded.',
  ])('%s', (note) => expect(isTransient(note)).toBe(true));

  it.each([
    'Ask for the time of the outing.',
    'Order 429 has to be looked up by e-mail.',
    'Items that are out of stock are not refunded.',
    'The refund is limited to 500 EUR.',
    'The down payment is refunded first.',
    'Shoppers without an account are looked up by zip code.',
  ])('is not: %s', (note) => expect(isTransient(note)).toBe(false));
});

describe('what a body says already', () => {
  it.each([
    'Look up the order with get_order.',
    'look up the  order with GET_ORDER',
    '- Observed in practice: Orders over 500 EUR need a second approval.',
    'Counter-example: orders over 500 EUR need a second approval',
    'Check that it was paid by card. Do not refund a gift card.',
  ])('%s', (note) => expect(saysAlready(note, BODY)).toBe(true));

  it.each([
    'Orders over 900 EUR need a second approval.',
    'Orders over 500 EUR need no second approval.',
    'Do refund a gift card.',
    'Refund a gift card.',
    'Orders may be split over several parcels.',
    'Check that it was paid by card. Otherwise ask for the account.',
  ])('is not: %s', (note) => expect(saysAlready(note, BODY)).toBe(false));

  it('holds in other scripts', () => {
    const body = '- 退款前先确认订单状态，然后通知客户。\n- สั่งซื้อก่อนเที่ยง';
    expect(saysAlready('退款前先确认订单状态，然后通知客户', body)).toBe(true);
    expect(saysAlready('退款前先确认付款方式', body)).toBe(false);
  });
});

describe('lines of a tool call', () => {
  it('are there already whatever their case, space and list mark', () => {
    expect(repeatsLines('* LOOK up  the order with get_order.', BODY)).toBe(true);
    expect(repeatsLines('Look up the order with get_order.\n\nCheck that it was paid by card.', BODY)).toBe(true);
    expect(repeatsLines('Look up the order with get_order.\nThen wait.', BODY)).toBe(false);
    expect(repeatsLines('Look up the order', BODY)).toBe(false);
  });

  it('become a list item unless they are one, or a heading', () => {
    expect(asListItem('Wait.')).toBe('- Wait.');
    for (const text of ['- Wait.', '* Wait.', '3. Wait.', '## Pitfalls\n- Wait.']) expect(asListItem(text)).toBe(text);
  });
});

describe('a body with a line more', () => {
  it('takes no longer for its blank lines', () => {
    const body = `a${'\n'.repeat(200_000)}b`;
    const start = performance.now();
    expect(appended(body, '- c')).toBe(`${body}\n\n- c`);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it.each([
    ['Steps.', 'Steps.\n\n- x'],
    ['Steps.\n', 'Steps.\n\n- x'],
    ['Steps.\n\n\n', 'Steps.\n\n\n- x'],
    ['- a', '- a\n- x'],
    ['1. a', '1. a\n\n- x'],
    ['- a\n', '- a\n- x'],
    ['  text  ', '  text  \n\n- x'],
  ])('%j', (body, expected) => expect(appended(body, '- x')).toBe(expected));
});
