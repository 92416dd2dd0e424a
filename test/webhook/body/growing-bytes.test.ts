import t from 'tap'
import { GrowingBytes } from '../../../src/webhook/body/growing-bytes.ts'

t.test('many small chunks take little more than what is in them', (t) => {
  const bytes = new GrowingBytes(7 * 1024 * 1024)
  const chunk = Buffer.from('x')
  for (let count = 0; count < 100_000; count += 1) bytes.push(chunk)
  t.equal(bytes.length, 100_000)
  t.ok(bytes.room < 200_000, `${bytes.room}`)
  const whole = bytes.whole()
  t.equal(whole.toString(), 'x'.repeat(100_000))
  t.equal(whole.buffer.byteLength, 100_000, 'it can be given away')
  t.end()
})

t.test('room is made for what has come, not for what is announced', (t) => {
  const bytes = new GrowingBytes(7 * 1024 * 1024)
  t.ok(bytes.roomFor(1) <= 16 * 1024)
  bytes.push(Buffer.alloc(60_000))
  t.ok(bytes.room < 130_000)
  const short = new GrowingBytes(10)
  t.equal(short.roomFor(4), 10, 'and no more than is announced')
  t.end()
})

t.test('the buffer doubles, from 16 KiB on, up to what is announced', (t) => {
  const bytes = new GrowingBytes(100_000)
  t.strictSame([bytes.length, bytes.room], [0, 0])
  const push = (count: number): readonly number[] => {
    const told = bytes.roomFor(count)
    bytes.push(Buffer.alloc(count, 'x'))
    t.equal(bytes.room, told)
    return [bytes.length, told]
  }
  t.strictSame(push(1), [1, 16_384])
  t.strictSame(push(16_383), [16_384, 16_384])
  t.strictSame(push(1), [16_385, 32_768])
  t.strictSame(push(50_000), [66_385, 66_385], 'or as much as has come')
  t.strictSame(push(1), [66_386, 100_000])
  t.strictSame(push(33_614), [100_000, 100_000])
  t.strictSame(push(1), [100_001, 100_001], 'also beyond what was announced')
  t.equal(bytes.whole().toString(), 'x'.repeat(100_001))
  t.end()
})

t.test('a buffer that was outgrown, or given back, is gone', (t) => {
  const bytes = new GrowingBytes(40)
  bytes.push(Buffer.from('a'))
  const outgrown = bytes.whole()
  bytes.push(Buffer.from('b'))
  t.equal(outgrown.buffer.byteLength, 0)
  bytes.free()
  t.strictSame([bytes.length, bytes.room], [0, 0])
  bytes.push(Buffer.from('c'))
  t.equal(bytes.whole().toString(), 'c')
  t.end()
})

t.test('what is freed is free at once', (t) => {
  const bytes = new GrowingBytes(100)
  bytes.push(Buffer.alloc(100))
  const { buffer } = bytes.whole()
  bytes.free()
  t.equal(buffer.byteLength, 0)
  bytes.free()
  t.end()
})
