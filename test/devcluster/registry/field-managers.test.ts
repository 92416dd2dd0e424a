import t from 'tap'
import { defaultFieldManager, managedFieldsAfter, writerOf } from '../../../src/devcluster/registry/field-managers.ts'
import { foos } from '../../support/devcluster/registry.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

t.test('a field manager defaults to the first part of the User-Agent', (t) => {
  const names: [userAgent: string, manager: string][] = [
    ['', 'unknown'],
    ['/1.0', 'unknown'],
    ['kubectl/1/2', 'kubectl'],
    ['a b/1.0/c', 'a b'],
    ['a\tb', 'ab'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), 'x'.repeat(128)],
  ]
  for (const [userAgent, manager] of names) t.equal(defaultFieldManager(userAgent), manager, userAgent)
  t.end()
})

t.test('the manager of a write is its fieldManager, or the default', (t) => {
  const context = { fieldManager: '', userAgent: 'kubectl/1.36' } as Parameters<typeof writerOf>[1]
  const writer = (changes: { fieldManager?: string } = {}) => writerOf(foos, { ...context, ...changes }, 'Apply', 'status', now)
  t.strictSame(writer(), { manager: 'kubectl', operation: 'Apply', apiVersion: 'ex.com/v1', subresource: 'status', now })
  t.equal(writer({ fieldManager: 'me' }).manager, 'me')
  t.end()
})

t.test('an update of nothing but metadata has no managed fields', (t) => {
  const update = writerOf(foos, { fieldManager: 'me' } as Parameters<typeof writerOf>[1], 'Update', '', now)
  const object = { kind: 'Foo', metadata: { name: 'a', managedFields: [] } }
  t.equal(managedFieldsAfter(foos, undefined, object, update), undefined)
  t.end()
})
