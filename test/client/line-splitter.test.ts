import t from 'tap'
import { LineSplitter } from '../../src/client/line-splitter.ts'
import { fc } from '../support/property.ts'

t.test('gives the same lines however the bytes are cut', async () => {
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

t.test('keeps what is incomplete', async (t) => {
  const splitter = new LineSplitter()
  t.strictSame(splitter.push(Buffer.from('a\nb')).map(String), ['a'])
  t.equal(String(splitter.end()), 'b')
})

t.test('bounds a line, in one piece or in many', async (t) => {
  const tooLong = { code: 'PRO_API', message: /more than 8 bytes/ }
  t.throws(() => new LineSplitter(8).push(Buffer.from('123456789')), tooLong)
  t.throws(() => new LineSplitter(8).push(Buffer.from('123456789\n')), tooLong)
  const splitter = new LineSplitter(8)
  splitter.push(Buffer.from('12345'))
  t.throws(() => splitter.push(Buffer.from('6789')), tooLong)
  t.strictSame(new LineSplitter(8).push(Buffer.from('12345678\n12345678\n')).map(String), ['12345678', '12345678'])
})
