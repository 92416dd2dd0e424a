import t from 'tap'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { surplusRevisions } from '../../../../../src/devcluster/controllers/workloads/revisions/history.ts'
import type { Revision } from '../../../../../src/devcluster/controllers/workloads/revisions/revision.ts'
import {
  compareRevisions,
  hasData,
  nextNumber,
  restoredTemplate,
  revisionData,
} from '../../../../../src/devcluster/controllers/workloads/revisions/revision.ts'

function revisionWith(name: string, revision: number, second = 0, data: unknown = {}): Revision {
  return { metadata: { name, creationTimestamp: new Date(second * 1000).toISOString() }, revision, data } as unknown as Revision
}

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'a' }] } }

t.test('a template is restored from its revision, whatever the current one is', (t) => {
  const revision = revisionWith('a', 1, 0, revisionData(template))
  for (const current of [undefined, template, { metadata: { annotations: { b: 'c' } }, spec: { containers: [] } }])
    t.strictSame(restoredTemplate(apps.statefulSet, current, revision), template)
  t.end()
})

t.test('data of other clients restores no template, or is merged with the current one', (t) => {
  const restored = (data: unknown) => restoredTemplate(apps.statefulSet, template, revisionWith('a', 1, 0, data))
  t.strictSame(restored(undefined), template)
  t.strictSame(restored({ other: true }), template)
  t.strictSame(restored({ spec: null }), undefined)
  t.strictSame(restored({ spec: 'text' }), undefined)
  t.strictSame(restored({ spec: { template: 7 } }), undefined)
  t.throws(() => restored({ spec: { template: { $patch: 'other' } } }))
  t.throws(() => restored([]))
  t.end()
})

t.test('equal data has the same fields in any order', (t) => {
  t.ok(hasData(revisionWith('a', 1, 0, { a: 1, b: [{ c: 2, d: 3 }] }), { b: [{ d: 3, c: 2 }], a: 1 }))
  t.notOk(hasData(revisionWith('a', 1, 0, { a: 1 }), { a: 2 }))
  t.end()
})

t.test('revisions are ordered by number, age and name', (t) => {
  const revisions = [revisionWith('c', 2, 5), revisionWith('b', 1, 9), revisionWith('a', 2, 5), revisionWith('d', 2, 1)]
  t.strictSame(
    revisions.toSorted(compareRevisions).map(({ metadata }) => metadata.name),
    ['b', 'd', 'a', 'c'],
  )
  t.equal(nextNumber(revisions), 3)
  t.equal(nextNumber([]), 1)
  t.end()
})

t.test('the oldest unused revisions beyond the limit are surplus', (t) => {
  const revisions = ['a', 'b', 'c', 'd'].map((name, index) => revisionWith(name, index))
  const surplus = (limit: number | undefined, ...used: string[]): string =>
    surplusRevisions(revisions, new Set(used), limit)
      .map(({ metadata }) => metadata.name)
      .join()
  t.equal(surplus(2), 'a,b')
  t.equal(surplus(0, 'a', 'd'), 'b,c')
  t.equal(surplus(2, 'a', 'd'), '')
  t.equal(surplus(9), '')
  t.equal(surplus(-1), '')
  t.equal(surplus(undefined), '')
  t.end()
})
