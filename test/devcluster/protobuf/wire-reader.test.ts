import t from 'tap'
import { WireReader } from '../../../src/devcluster/protobuf/wire-reader.ts'

const reader = (...bytes: number[]): WireReader => new WireReader(Buffer.from(bytes))
const problem = (message: string): { name: string; message: string } => ({ name: 'Error', message })

t.test('a varint of up to 64 bits is read', async (t) => {
  const cases: readonly (readonly [bytes: number[], value: bigint])[] = [
    [[0], 0n],
    [[0x7f], 127n],
    [[0x80, 0x01], 128n],
    [[0xac, 0x02], 300n],
    [[0x80, 0x00], 0n],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 2n ** 64n - 1n],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03], 2n ** 64n - 1n],
  ]
  for (const [bytes, value] of cases) {
    const one = reader(...bytes, 5)
    t.equal(one.varint(), value)
    t.equal(one.varint(), 5n, 'no further byte is read')
    t.ok(one.done)
  }
  t.throws(() => reader().varint(), problem('unexpected EOF'))
  t.throws(() => reader(0x80).varint(), problem('unexpected EOF'))
  t.throws(() => reader(...Array<number>(10).fill(0x80), 1).varint(), problem('proto: integer overflow'))
})

t.test('a tag is read, and an invalid one is refused with the name of the message', async (t) => {
  t.strictSame(reader(0x0a).tag('Pod'), { number: 1, wireType: 2 })
  t.strictSame(reader(0xf8, 0x07).tag(), { number: 127, wireType: 0 })
  t.throws(() => reader(0x02).tag('Pod'), problem('proto: Pod: illegal tag 0 (wire type 2)'))
  t.throws(() => reader(0x0c).tag('Pod'), problem('proto: Pod: wiretype end group for non-group'))
  t.strictSame(reader(0x04).tag(), { number: 0, wireType: 4 }, 'without a message name every tag is accepted')
})

t.test('a length-delimited field is read by its length', async (t) => {
  const one = reader(2, 7, 8, 0, 9)
  t.strictSame([...one.bytes()], [7, 8])
  t.strictSame([...one.bytes()], [])
  t.notOk(one.done)
  t.strictSame([...reader(1, 9).bytes()], [9], 'a field may end with the body')
  t.throws(() => reader(2, 9).bytes(), problem('unexpected EOF'))
  t.throws(() => reader(...Array<number>(9).fill(0xff), 1).bytes(), problem('proto: negative length found during unmarshaling'))
  t.equal(new WireReader(Buffer.from('000000000000f83f', 'hex')).double(), 1.5)
  t.throws(() => reader(0, 0, 0, 0, 0, 0, 0).double(), problem('unexpected EOF'))
})

t.test('a skipped field ends where the next one begins', async (t) => {
  const cases: readonly (readonly [wireType: number, bytes: number[]])[] = [
    [0, [0x80, 0x01]],
    [1, [1, 2, 3, 4, 5, 6, 7, 8]],
    [2, [2, 1, 2]],
    [5, [1, 2, 3, 4]],
    [3, [0x0c]],
    // The group contains a number and another group. The inner group contains a string.
    [3, [0x08, 0x01, 0x13, 0x1a, 0x01, 0x00, 0x14, 0x0c]],
  ]
  for (const [wireType, bytes] of cases) {
    const one = reader(...bytes, 5)
    one.skip(wireType)
    t.equal(one.varint(), 5n)
    t.throws(() => reader(...bytes.slice(0, -1)).skip(wireType), problem('unexpected EOF'))
  }
  t.throws(() => reader().skip(4), problem('proto: unexpected end of group'))
  t.throws(() => reader().skip(6), problem('proto: illegal wireType 6'))
  t.throws(() => reader(0x0f).skip(3), problem('proto: illegal wireType 7'))
})
