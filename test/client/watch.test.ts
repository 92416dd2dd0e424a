import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { failure } from '../../src/api/status.ts'
import { isExpired } from '../../src/client/api-error.ts'
import { readEvents } from '../../src/client/watch.ts'

const request = { method: 'GET', path: '/api/v1/pods' }
const line = (type: string, name: string): string => `${JSON.stringify({ type, object: { metadata: { name } } })}\n`

async function* chunks(...parts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part)
}
async function read(...parts: (string | Buffer)[]): Promise<string[]> {
  const events: string[] = []
  for await (const { type, object } of readEvents(chunks(...parts), request)) events.push(`${type} ${object.metadata.name}`)
  return events
}

t.test('each line is an event, for any chunking', async (t) => {
  const text = Buffer.from(line('ADDED', 'a') + line('MODIFIED', 'zwölf – ✓') + line('BOOKMARK', 'c'))
  for (const size of [1, 2, 3, 7, 1000]) {
    const parts: Buffer[] = []
    for (let at = 0; at < text.length; at += size) parts.push(text.subarray(at, at + size))
    t.strictSame(await read(...parts), ['ADDED a', 'MODIFIED zwölf – ✓', 'BOOKMARK c'])
  }
})

t.test('the stream is read no faster than its events are consumed', async (t) => {
  let produced = 0
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      produced += 1
      yield Buffer.from(line('ADDED', 'a'))
    }
  }
  let taken = 0
  for await (const event of readEvents(endless(), request)) {
    t.equal(event.type, 'ADDED')
    t.equal(produced, taken + 1)
    if (++taken === 3) break
  }
})

t.test('integers beyond 2^53 are exact', async (t) => {
  const text = '{"type":"ADDED","object":{"metadata":{"name":"ü"},"spec":{"a":9007199254740993,"b":-9007199254740993,"c":1}}}\n'
  for await (const { object } of readEvents(chunks(text), request)) {
    t.strictSame((object as unknown as JsonObject).spec, { a: 9007199254740993n, b: -9007199254740993n, c: 1 })
  }
})

t.test('messages quote only the beginning of what the server has sent', async (t) => {
  const long = 'x'.repeat(100_000)
  for (const event of [
    { type: 'ERROR', object: { long } },
    { type: long, object: {} },
    { type: 'ADDED', long },
  ])
    await t.rejects(read(`${JSON.stringify(event)}\n`), { message: /^.{50,1200}$/ })
})

t.test('an ERROR event is thrown', async (t) => {
  const expired = `${JSON.stringify({ type: 'ERROR', object: failure(410, 'Expired', 'too old resource version: 1 (5)') })}\n`
  const events: string[] = []
  try {
    for await (const event of readEvents(chunks(line('ADDED', 'a') + expired), request)) events.push(event.type)
    t.fail('must throw')
  } catch (error) {
    t.ok(isExpired(error))
    t.match(error, { message: 'too old resource version: 1 (5)', statusCode: 410 })
  }
  t.strictSame(events, ['ADDED'])
})

t.test('an ERROR event has the request and the reason of its Status', async (t) => {
  const status = failure(504, 'Timeout', 'Too large resource version', { causes: [{ reason: 'ResourceVersionTooLarge' }] })
  const thrown = (text: string): Promise<unknown> => read(text).catch((error: unknown) => error)
  t.match(await thrown(`${JSON.stringify({ type: 'ERROR', object: status })}\n`), { status, request })
  t.match(await thrown('{"type":"ERROR","object":{"a":1}}\n'), { statusCode: 500, reason: 'InternalError', request })
})

const start = 'The watch of /api/v1/pods'
const long = `{"type":"ADDED","a":"${'x'.repeat(1000)}"}`
const broken: [string, string, string, string][] = [
  ['invalid JSON', '<html>\n', 'PRO_API', `${start} sent a line that is not valid JSON.`],
  ['a value that is not an object', '7\n', 'PRO_API', `${start} sent a line that is not a watch event: 7`],
  ['an object that is not an event', '{"type":"ADDED"}\n', 'PRO_API', `${start} sent a line that is not a watch event: {"type":"ADDED"}`],
  ['a long line that is not an event', `${long}\n`, 'PRO_API', `${start} sent a line that is not a watch event: ${long.slice(0, 200)}`],
  ['an unknown type', '{"type":"MOVED","object":{}}\n', 'PRO_API', `${start} sent an event of the unknown type "MOVED".`],
  [
    'a type that is a long number',
    '{"type":9007199254740993,"object":{}}\n',
    'PRO_API',
    `${start} sent an event of the unknown type 9007199254740993.`,
  ],
  ['an end after the first byte of an event', '{', 'PRO_API_UNREACHABLE', `${start} ended in the middle of an event.`],
  ['an end within an event', '{"type":"ADDED","obj', 'PRO_API_UNREACHABLE', `${start} ended in the middle of an event.`],
  [
    'an error that is not a Status',
    '{"type":"ERROR","object":{"a":1}}\n',
    'PRO_API',
    'the watch ended with an error without a message: {"a":1}',
  ],
]
for (const [name, text, code, message] of broken) {
  t.test(`${name} is an error`, async (t) => {
    const error = await read(text).catch((thrown: unknown) => thrown as { code: string; message: string })
    t.strictSame(Array.isArray(error) ? error : [error.code, error.message], [code, message])
  })
}

t.test('all types of events are accepted', async (t) => {
  const types = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']
  t.strictSame(
    await read(...types.map((type) => line(type, 'a'))),
    types.map((type) => `${type} a`),
  )
})
