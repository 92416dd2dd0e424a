import t from 'tap'
import { GrowingBytes } from '../../../src/webhook/body/growing-bytes.ts'

t.test('many small chunks take little more memory than their bytes', (t) => {
  const bytes = new GrowingBytes(7 * 1024 * 1024)
  const chunk = Buffer.from('x')
  for (let count = 0; count < 100_000; count += 1) bytes.push(chunk)
  t.equal(bytes.length, 100_000)
  t.ok(bytes.room < 200_000, `${bytes.room}`)
  const whole = bytes.whole()
  t.equal(whole.toString(), 'x'.repeat(100_000))
  t.equal(whole.buffer.byteLength, 100_000, 'the buffer can be transferred')
  t.end()
})

t.test('the buffer is sized by the bytes received, not by the announced length', (t) => {
  const bytes = new GrowingBytes(7 * 1024 * 1024)
  t.ok(bytes.roomFor(1) <= 16 * 1024)
  bytes.push(Buffer.alloc(60_000))
  t.ok(bytes.room < 130_000)
  const short = new GrowingBytes(10)
  t.equal(short.roomFor(4), 10, 'and by no more than the announced length')
  t.end()
})

t.test('the buffer doubles, from 16 KiB up to the announced length', (t) => {
  const bytes = new GrowingBytes(100_000)
  t.strictSame([bytes.length, bytes.room], [0, 0])
  const push = (count: number): readonly number[] => {
    const room = bytes.roomFor(count)
    bytes.push(Buffer.alloc(count, 'x'))
    t.equal(bytes.room, room)
    return [bytes.length, room]
  }
  t.strictSame(push(1), [1, 16_384])
  t.strictSame(push(16_383), [16_384, 16_384])
  t.strictSame(push(1), [16_385, 32_768])
  t.strictSame(push(50_000), [66_385, 66_385], 'or to the length received')
  t.strictSame(push(1), [66_386, 100_000])
  t.strictSame(push(33_614), [100_000, 100_000])
  t.strictSame(push(1), [100_001, 100_001], 'also beyond the announced length')
  t.equal(bytes.whole().toString(), 'x'.repeat(100_001))
  t.end()
})

t.test('a buffer that was outgrown or freed is detached', (t) => {
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

t.test('a freed buffer is detached at once', (t) => {
  const bytes = new GrowingBytes(100)
  bytes.push(Buffer.alloc(100))
  const { buffer } = bytes.whole()
  bytes.free()
  t.equal(buffer.byteLength, 0)
  bytes.free()
  t.end()
})
