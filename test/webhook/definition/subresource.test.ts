import t from 'tap'
import { operationOf } from '../../../src/webhook/definition/subresource.ts'

const operations: Readonly<Record<string, readonly string[]>> = {
  CONNECT: ['exec', 'attach', 'portforward', 'proxy'],
  CREATE: ['eviction', 'binding', 'token'],
  UPDATE: ['status', 'scale', 'approval', 'ephemeralcontainers', 'constructor'],
}

t.test('a subresource defaults to the operation by which it is requested', async (t) => {
  for (const [operation, subresources] of Object.entries(operations))
    for (const subresource of subresources) t.equal(operationOf(subresource), operation, subresource)
})
