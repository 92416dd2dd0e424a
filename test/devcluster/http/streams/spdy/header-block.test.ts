/** Tests of the compressed headers of SPDY. */
import { createHash } from 'node:crypto'
import { constants, createDeflate, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { dictionary } from '../../../../../src/devcluster/http/streams/spdy/dictionary.ts'
import { HeaderReader, HeaderWriter } from '../../../../../src/devcluster/http/streams/spdy/header-block.ts'
import { ProtocolError } from '../../../../../src/devcluster/http/streams/spdy/protocol-error.ts'

const flush = { finishFlush: constants.Z_SYNC_FLUSH }

t.test('the dictionary is the one of SPDY/3', (t) => {
  t.equal(createHash('sha256').update(dictionary).digest('hex'), '51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02')
  t.end()
})

t.test('headers survive compression, block after block', async () => {
  const headers = fc.dictionary(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 200 }), {
    maxKeys: 10,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(headers, { maxLength: 5 }), async (blocks) => {
      const writer = new HeaderWriter()
      const reader = new HeaderReader()
      try {
        for (const block of blocks) {
          const expected = new Map(Object.entries(block).map(([name, value]) => [name.toLowerCase(), value]))
          const read = await reader.read(writer.write(expected))
          if (JSON.stringify([...read]) !== JSON.stringify([...expected])) throw new Error(`${JSON.stringify([...read])}`)
        }
      } finally {
        reader.close()
      }
    }),
    { numRuns: 50 },
  )
})

t.test('blocks that refer to earlier blocks are read, as the clients of Kubernetes send them', async (t) => {
  const compressor = createDeflate({ dictionary, level: 9 })
  t.teardown(() => compressor.destroy())
  const block = async (bytes: Buffer): Promise<Buffer> => {
    compressor.write(bytes)
    await new Promise<void>((resolve) => compressor.flush(constants.Z_SYNC_FLUSH, resolve))
    return compressor.read() as Buffer
  }
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(0, 0, 0, value.length), Buffer.from(value)])
  const raw = Buffer.concat([Buffer.of(0, 0, 0, 1), text('streamtype'), text('error')])
  const reader = new HeaderReader()
  t.teardown(() => reader.close())
  const [first, second] = [await block(raw), await block(raw)]
  t.ok(second.length < first.length, 'the second block refers to the first one')
  for (const bytes of [first, second]) t.strictSame([...(await reader.read(bytes))], [['streamtype', 'error']])
})

t.test('malformed blocks are refused', async (t) => {
  const compressed = (bytes: Buffer): Buffer => deflateSync(bytes, { dictionary, ...flush })
  for (const [what, bytes] of [
    ['an empty block', Buffer.alloc(0)],
    ['no zlib stream', Buffer.from('hello world')],
    ['another dictionary', deflateSync('x', { dictionary: Buffer.from('other'), ...flush })],
    ['no count', compressed(Buffer.of(0, 0))],
    ['too few headers', compressed(Buffer.of(0, 0, 0, 1))],
    ['a count of 2^32 - 1', compressed(Buffer.of(255, 255, 255, 255, 0, 0, 0, 0))],
    ['a length of 2^32 - 1', compressed(Buffer.of(0, 0, 0, 1, 255, 255, 255, 255, 65))],
    ['16 MiB from 16 KiB', compressed(Buffer.alloc(16 * 1024 * 1024))],
  ] as const) {
    const reader = new HeaderReader()
    await t.rejects(reader.read(bytes), ProtocolError, what)
    reader.close()
  }
  const reader = new HeaderReader()
  await t.rejects(reader.read(Buffer.from('hello world')), ProtocolError)
  await t.rejects(reader.read(new HeaderWriter().write(new Map())), ProtocolError, 'a connection does not recover')
  const closed = new HeaderReader()
  closed.close()
  await t.rejects(closed.read(Buffer.of(1)), ProtocolError)
})
