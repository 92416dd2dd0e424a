import t from 'tap'
import { LineSplitter } from '../../src/client/line-splitter.ts'
import { fc } from '../support/property.ts'

t.test('lines are the same for any chunking', async () => {
  const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 20 })
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ maxLength: 12, unit: 'binary' }).map((text) => text.replaceAll('\n', '')),
        { maxLength: 8 },
      ),
      cuts,
      (lines, sizes) => {
        const splitter = new LineSplitter()
        let rest = Buffer.from(lines.map((line) => `${line}\n`).join(''))
        const found: string[] = []
        for (const size of [...sizes, Infinity]) {
          found.push(...splitter.push(rest.subarray(0, size)).map(String))
          rest = rest.subarray(Math.min(size, rest.length))
        }
        const expected = lines.filter((line) => line !== '').map((line) => Buffer.from(line).toString())
        return splitter.end().length === 0 && JSON.stringify(found) === JSON.stringify(expected)
      },
    ),
  )
})

t.test('an incomplete line is kept', async (t) => {
  const splitter = new LineSplitter()
  t.strictSame(splitter.push(Buffer.from('a\nb')).map(String), ['a'])
  t.equal(String(splitter.end()), 'b')
})

t.test('the length of a line is limited, in one chunk or in many', async (t) => {
  const tooLong = { code: 'PRO_API', message: /more than 8 bytes/ }
  t.throws(() => new LineSplitter(8).push(Buffer.from('123456789')), tooLong)
  t.throws(() => new LineSplitter(8).push(Buffer.from('123456789\n')), tooLong)
  const splitter = new LineSplitter(8)
  splitter.push(Buffer.from('12345'))
  t.throws(() => splitter.push(Buffer.from('6789')), tooLong)
  t.strictSame(new LineSplitter(8).push(Buffer.from('12345678\n12345678\n')).map(String), ['12345678', '12345678'])
})

t.test('the limit applies to each line', async (t) => {
  const splitter = new LineSplitter(8)
  t.strictSame(splitter.push(Buffer.from('12345')), [])
  t.strictSame(splitter.push(Buffer.from('678\n1234')).map(String), ['12345678'])
  t.strictSame(splitter.push(Buffer.from('5678')), [])
  t.equal(String(splitter.end()), '12345678')
  t.strictSame(splitter.push(Buffer.from('abcdefgh')), [])
  t.strictSame(splitter.push(Buffer.from('\n')).map(String), ['abcdefgh'])
  t.equal(String(splitter.end()), '')
})

t.test('a line has at most 32 MiB', async (t) => {
  const most = Buffer.alloc(32 * 1024 * 1024, 'x')
  const splitter = new LineSplitter()
  t.strictSame(splitter.push(most), [])
  t.throws(() => splitter.push(Buffer.from('x')), {
    code: 'PRO_API',
    message: 'The API server sent a line of more than 33554432 bytes, which is more than a watch event or a line of a log may have.',
  })
})
