import { describe, expect, it } from '@jest/globals';
import { containment, wordShingles } from '../../core/similarity/text-similarity.js';
import { nearDuplicates } from './near-duplicates.js';
import { procedureOf } from './skill-document.js';

const CANCEL = `## When to use

A customer asks to cancel a reservation and gives its number or their user id.

## Steps

1. Call get_user_details with the user id that the customer gave, and check that the name is theirs.
2. Call get_reservation_details for each reservation named, and note cabin, insurance and the time of booking.
3. Refuse if a flight of the reservation has been flown already, and say why in one sentence.
4. Allow it within 24 hours of booking, for business class, or where insurance covers the stated reason.
5. List what will be cancelled and what will be refunded, and wait for an explicit yes.
6. Call cancel_reservation once, with the reservation number alone.
7. Tell the customer that the refund goes to the original payment method within 5 to 7 days.

## Pitfalls

Do not promise a refund before the booking time was read. A change of mind is no covered reason.`;

const BAGS = `## When to use

A customer asks to add checked bags to a reservation that they have made.

## Steps

1. Call get_user_details with the user id that the customer gave, and read the membership level.
2. Call get_reservation_details and note cabin, passengers and the number of bags booked so far.
3. Work out the free allowance from membership and cabin; each further bag costs 50 dollars.
4. List the total and the payment methods in the profile, and wait for an explicit yes.
5. Call update_reservation_baggages with the new total, not with the difference.

## Pitfalls

Bags can be added and not removed. Calculate with the calculate tool, never in the head.`;

const CABIN = `## When to use

A customer asks to change the cabin of all flights in a reservation.

## Steps

1. Call get_user_details with the user id that the customer gave, and check that the name is theirs.
2. Call get_reservation_details and note the cabin, the flights and the passengers.
3. Call search_direct_flight for every leg to read the price of the cabin that is wanted.
4. Work out the difference for all passengers, and wait for an explicit yes to the amount.
5. Call update_reservation_flights with the same flights and the new cabin.

## Pitfalls

The cabin is the same for all flights. Basic economy can change cabin although it cannot change flights.`;

const steps = CANCEL.match(/^\d\. .*$/gm)!;
const words = CANCEL.split(/(?<=\s)/);

/** A fixed stream of numbers in 0..1, so that a failure comes again. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const replaced = (isReplaced: (index: number) => boolean): string =>
  words.map((word, index) => (isReplaced(index) ? `other${index} ` : word)).join('');

const isRefused = (body: string): boolean => nearDuplicates(body, [{ content: CANCEL }]).length > 0;

describe('a body nine tenths alike', () => {
  it.each([
    ['as it is', CANCEL],
    ['under front matter of its own', `---\nname: other-name\ndescription: Something else entirely.\n---\n\n${CANCEL}`],
    ['with every tenth word another', replaced((index) => index % 10 === 0)],
    ['with one step written anew', CANCEL.replace(steps[3]!, '4. Look at the policy and decide by what it says.')],
    ['without its last step', CANCEL.replace(`${steps[6]!}\n`, '')],
    [
      'with a tenth more',
      `${CANCEL}\n\nIf the tool answers with an error, read the reservation again before a second try.`,
    ],
    ['with its steps in another order', CANCEL.replace(/(^2\. .*$)\n(^3\. .*$)/m, '$2\n$1')],
    ['with bullets in place of numbers', CANCEL.replace(/^\d\. /gm, '- ')],
    ['with other headings', CANCEL.replace(/^## .*$/gm, '# Chapter')],
    ['in bold capitals', `**${CANCEL.toUpperCase()}**`],
    ['with the tool renamed', CANCEL.replaceAll('cancel_reservation', 'drop_booking')],
    ['with its lines folded', CANCEL.replace(/ (?=\w+ \w+ \w+\b)/g, '\n')],
    ['as the first half alone', CANCEL.slice(0, CANCEL.length / 2)],
  ])('%s is the same procedure', (_, body) => {
    expect(isRefused(body)).toBe(true);
    expect(nearDuplicates(CANCEL, [{ content: body }])).toHaveLength(1);
  });

  it('is the same wherever the other tenth stands', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const next = random(seed);
      const others = new Set<number>();
      while (others.size < words.length / 10) others.add(Math.floor(next() * words.length));
      expect([seed, isRefused(replaced((index) => others.has(index)))]).toEqual([seed, true]);
    }
  });
});

describe('another procedure', () => {
  it('of the same field is no duplicate, by a wide margin', () => {
    for (const [a, b] of [
      [CANCEL, BAGS],
      [CANCEL, CABIN],
      [BAGS, CABIN],
    ] as const) {
      expect(nearDuplicates(a, [{ content: b }])).toEqual([]);
      expect(containment(wordShingles(procedureOf(a)), wordShingles(procedureOf(b)))).toBeLessThan(1 / 3);
    }
  });

  it('with half of the words in common is none either', () => {
    expect(isRefused(replaced((index) => index % 2 === 0))).toBe(false);
    expect(isRefused('')).toBe(false);
  });

  it('in a language without spaces is told apart too', () => {
    const cancel = '先查询用户资料，再查询预订详情，确认舱位和保险，得到同意后取消预订。';
    const refund = '先核对付款方式，计算差价，列出总额，客户同意之后才可以修改航班。';
    expect(nearDuplicates(cancel, [{ content: refund }])).toEqual([]);
    expect(nearDuplicates(cancel.replace('保险', '票价'), [{ content: cancel }])).toHaveLength(1);
  });
});
