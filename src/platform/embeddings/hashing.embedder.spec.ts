import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HashingEmbedder } from './hashing.embedder.js';

const embedder = new HashingEmbedder();

async function vectorOf(text: string, by = embedder): Promise<number[]> {
  const [vector] = await by.embed([text]);
  return vector!;
}

async function similarity(a: string, b: string): Promise<number> {
  const [one, other] = await embedder.embed([a, b]);
  return one!.reduce((sum, value, index) => sum + value * other![index]!, 0);
}

describe('the hashing embedder', () => {
  it('names its form and its length', async () => {
    expect(embedder.model).toBe('hashing-v1-384');
    expect(embedder.local).toBe(true);
    const small = new HashingEmbedder(64);
    expect(small.model).toBe('hashing-v1-64');
    expect(await vectorOf('hello', small)).toHaveLength(64);
  });

  it('gives the same vector in every process and version', async () => {
    const vector = await vectorOf('Refund the customer', new HashingEmbedder(8));
    expect(vector.map((value) => value.toFixed(4))).toMatchInlineSnapshot(`
     [
       "0.3392",
       "0.0304",
       "0.5234",
       "0.2617",
       "0.3392",
       "0.2921",
       "0.0000",
       "0.5842",
     ]
    `);
  });

  it('gives a unit vector of any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const vector = await vectorOf(text);
        expect(vector).toHaveLength(384);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
      }),
    );
    for (const text of ['.', '!!!', ':-)', '😀', 'what did you do'])
      expect(Math.hypot(...(await vectorOf(text)))).toBeCloseTo(1, 6);
  });

  it('puts texts that share words nearer than those that do not', async () => {
    const query = 'How do I refund a cancelled booking?';
    const near = await similarity(query, 'Refunds of cancelled bookings need the booking id.');
    const far = await similarity(query, 'The sprint freeze runs through Friday.');
    expect(near).toBeGreaterThan(0.3);
    expect(Math.abs(far)).toBeLessThan(0.15);
    expect(await similarity('REFUND', 'refund')).toBeCloseTo(1, 6);
    expect(await similarity('ﬁle', 'file')).toBeCloseTo(1, 6);
  });

  it.each([
    ['我喜欢中国菜和绿茶', '绿茶', '航班取消'],
    ['私は緑茶が好きです', '緑茶', '出張'],
    ['저는 녹차를 좋아합니다', '녹차', '출장'],
    ['ฉันชอบดื่มชาเขียว', 'ชาเขียว', 'เที่ยวบิน'],
    ['أحب الشاي الأخضر', 'الشاي', 'رحلة'],
    ['Я люблю зелёный чай', 'чай', 'рейс'],
  ])('knows the words of %s', async (text, word, other) => {
    expect(await similarity(text, word)).toBeGreaterThan((await similarity(text, other)) + 0.1);
  });

  it('embeds the longest text in little time', async () => {
    const text = Array.from({ length: 1_200 }, (_, index) => `word${index}`)
      .join(' ')
      .slice(0, 8_000);
    const started = performance.now();
    await vectorOf(text);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
