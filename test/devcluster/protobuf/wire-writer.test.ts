/** Tests of the encoding of fields, and of messages of any length. */
import t from 'tap'
import { WireWriter } from '../../../src/devcluster/protobuf/wire-writer.ts'

const hexOf = (write: (writer: WireWriter) => void): string => {
  const writer = new WireWriter()
  write(writer)
  return writer.bytes().toString('hex')
}

t.test('fields are encoded as in proto3, without zero values', (t) => {
  for (const [write, hex] of [
    [(writer) => writer.integer(1, 150), '089601'],
    [(writer) => writer.integer(1, 0), ''],
    [(writer) => writer.integer(2, -1), '10ffffffffffffffffff01'],
    [(writer) => writer.integer(16, 2 ** 40), '800180808080' + '8020'],
    [(writer) => writer.integer(1, 2 ** 62), '08808080808080808040'],
    [(writer) => writer.string(2, 'é'), '1202c3a9'],
    [(writer) => writer.string(2, ''), ''],
    [(writer) => writer.bool(3, true), '1801'],
    [(writer) => writer.bool(3, false), ''],
    [(writer) => writer.double(7, 1.5), '39000000000000f83f'],
    [(writer) => writer.double(7, 0), ''],
    [(writer) => writer.message(4, () => undefined), '2200'],
    [(writer) => writer.encoded(Buffer.from('1801', 'hex')), '1801'],
  ] as [(writer: WireWriter) => void, string][])
    t.equal(hexOf(write), hex)
  t.end()
})

t.test('a message is preceded by its length, however long it is', (t) => {
  for (const [length, prefix] of [
    [127, '7f'],
    [128, '8001'],
    [16_383, 'ff7f'],
    [16_384, '808001'],
    [100_000, 'a08d06'],
  ] as const) {
    const text = 'x'.repeat(length)
    t.equal(
      hexOf((writer) => {
        writer.bool(1, true)
        writer.message(2, () => writer.encoded(Buffer.from(text)))
        writer.bool(3, true)
      }),
      `080112${prefix}${Buffer.from(text).toString('hex')}1801`,
    )
  }
  t.equal(
    hexOf((writer) => writer.message(1, () => writer.message(2, () => writer.string(3, 'x'.repeat(200))))),
    `0ace0112cb011ac801${'78'.repeat(200)}`,
  )
  t.end()
})
