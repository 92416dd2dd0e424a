import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { Output } from '../../../../src/devcluster/pods/runtime/output.ts'

t.test('the log gets everything, a client what comes while it is attached', async (t) => {
  const source = new PassThrough()
  const output = new Output(source)
  const log = text(output.log)
  source.write('before ')
  await new Promise(setImmediate)
  const client = text(output.attach())
  source.end('after')
  t.equal(await log, 'before after')
  t.equal(await client, 'after')
  t.equal(await text(output.attach()), '', 'after the end')
})

t.test('a client that does not read is cut off, and the log is not delayed', async (t) => {
  const source = new PassThrough()
  const output = new Output(source)
  const slow = output.attach()
  let bytes = 0
  output.log.on('data', (chunk: Buffer) => (bytes += chunk.length))
  const total = 64 * 65_536
  for (let sent = 0; sent < total; sent += 65_536) if (!source.write(Buffer.alloc(65_536))) await once(source, 'drain')
  source.end()
  await once(output.log, 'end')
  t.equal(bytes, total)
  t.equal(slow.destroyed, true)
})

t.test('the process waits while its log cannot be written', async (t) => {
  const source = new PassThrough()
  const output = new Output(source)
  // This output is much larger than all buffers together.
  for (let count = 0; count < 100; count += 1) {
    source.write(Buffer.alloc(16_384))
    await new Promise(setImmediate)
  }
  t.ok(source.isPaused())
  t.ok(output.log.readableLength + output.log.writableLength < 200_000, 'the log holds little')
  let bytes = 0
  output.log.on('data', (chunk: Buffer) => (bytes += chunk.length))
  source.end()
  await once(output.log, 'end')
  t.equal(bytes, 100 * 16_384)
})

t.test('a broken stream ends the log', async (t) => {
  const source = new PassThrough()
  const output = new Output(source)
  const log = text(output.log)
  source.write('text')
  await new Promise(setImmediate)
  source.destroy(new Error('broken'))
  t.equal(await log, 'text')
})
