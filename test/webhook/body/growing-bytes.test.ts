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

t.test('what is freed is free at once', (t) => {
  const bytes = new GrowingBytes(100)
  bytes.push(Buffer.alloc(100))
  const { buffer } = bytes.whole()
  bytes.free()
  t.equal(buffer.byteLength, 0)
  bytes.free()
  t.end()
})
