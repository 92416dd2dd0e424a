/** Tests with random protobuf bodies: each must either be decoded or rejected with 400. */
import t from 'tap'
import { decodeObject } from '../../../src/devcluster/http/codec.ts'
import { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { bytes, object, varint } from '../../support/protobuf/bytes.ts'
import { recorded } from '../../support/protobuf/recorded.ts'
import { fc } from '../../support/property.ts'
import { processorTimeMs } from '../../support/turns.ts'

const bodies = recorded.map(([, base64]) => Buffer.from(base64, 'base64'))
const kinds: readonly (readonly [apiVersion: string, kind: string])[] = [
  ['v1', 'Pod'],
  ['v1', 'Event'],
  ['apps/v1', 'ControllerRevision'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  ['v1', 'DeleteOptions'],
]

function checked(body: Buffer): boolean {
  try {
    const { value } = decodeObject(body, 'application/vnd.kubernetes.protobuf', { apiVersion: 'v1', kind: 'Pod' })
    return JSON.stringify(JSON.parse(JSON.stringify(value))) === JSON.stringify(value)
  } catch (error) {
    return error instanceof StatusError && error.status.code === 400 && error.message !== ''
  }
}

t.test('random bytes are decoded or refused with 400', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (content, begins) =>
      checked(Buffer.concat([Buffer.from(begins ? 'k8s\0' : ''), content])),
    ),
  )
  t.end()
})

t.test('an object with random content is decoded or refused with 400', (t) => {
  // Small numbers are more frequent, because they are likely to be the tags of existing fields and the lengths of short values.
  const content = fc.array(fc.oneof(fc.nat({ max: 40 }), fc.constantFrom(0x0a, 0x12, 0x1a, 0x22), fc.nat({ max: 255 })), { maxLength: 120 })
  fc.assert(
    fc.property(fc.constantFrom(...kinds), content, ([apiVersion, kind], content) =>
      checked(object(apiVersion, kind, Buffer.from(content))),
    ),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('an object with a changed, removed or repeated part is decoded or refused with 400', (t) => {
  const change = fc.record({
    at: fc.nat({ max: 300 }),
    length: fc.nat({ max: 20 }),
    insert: fc.uint8Array({ maxLength: 10 }),
    times: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.array(change, { minLength: 1, maxLength: 4 }), (body, changes) =>
      checked(
        changes.reduce((before, { at, length, insert, times }) => {
          const part = before.subarray(at, at + length)
          return Buffer.concat([before.subarray(0, at), insert, ...Array.from({ length: times }, () => part), before.subarray(at + length)])
        }, body),
      ),
    ),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('the largest and deepest bodies are decoded or refused in bounded time', (t) => {
  const megabytes = 3 * 1024 * 1024
  // Schemas that are nested in `not`, as deep as the size limit permits. The innermost schema is encoded first, because each level begins
  // with the size of the levels inside it.
  const levels: Buffer[] = []
  for (let size = 0; size < megabytes; size += levels.at(-1)!.length) levels.push(Buffer.concat([varint((28 << 3) | 2), varint(size)]))
  const deep = Buffer.concat(levels.reverse())
  const crd = (content: Buffer): Buffer =>
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, bytes(7, bytes(4, content))))
  const pieces = Buffer.from(Array.from({ length: megabytes / 2 }, () => [0x0a, 0x00]).flat())
  for (const body of [crd(bytes(1, deep)), crd(pieces), object('v1', 'ConfigMap', pieces), Buffer.concat([Buffer.from('k8s\0'), pieces])]) {
    const started = processorTimeMs()
    t.ok(checked(body))
    t.ok(processorTimeMs() - started < 10_000, 'the decoding takes less than 10 s of processor time')
  }
  t.end()
})
