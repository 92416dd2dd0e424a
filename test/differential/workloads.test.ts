/**
 * Two control planes execute the same steps in the life of a workload, and the results are compared. These tests check which values are
 * compared, and which values are ignored.
 */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { GivenNames } from '../real/differential/workloads/names.ts'
import { Outcomes } from '../real/differential/workloads/outcome.ts'
import type { ObjectHistory } from '../real/differential/workloads/recorder.ts'
import { momentaryValues } from '../real/differential/workloads/states.ts'

const uid = (digit: number): string => `${digit}1234567-89ab-4cde-8f01-23456789abcd`
const history = (kind: string, ...states: readonly JsonObject[]): ObjectHistory => ({
  kind,
  states: states.map((state) => ({ kind, ...state })),
  isDeleted: false,
})

t.test('only values that are found in neither resting state count as moments', async (t) => {
  const ready = (status: string): JsonObject => ({ conditions: [{ type: 'Ready', status }] })
  t.strictSame(momentaryValues({ replicas: 1 }, [{ replicas: 1 }, { replicas: 2 }, { replicas: 3 }], { replicas: 3 }), [])
  t.strictSame(momentaryValues({}, [{ replicas: 2 }, { replicas: 4 }, { replicas: 4 }], { replicas: 3 }), [{ replicas: 4 }])
  t.strictSame(momentaryValues({ a: 3 }, [{}, { a: 1 }], { a: 3 }), [{ a: 1 }], 'an absent counter is not a value')
  t.strictSame(momentaryValues(ready('True'), [ready('False')], ready('True')), [{ 'conditions.Ready.status': 'False' }])
  t.strictSame(momentaryValues(ready('True'), [{ conditions: [] }, ready('True')], ready('False')), [])
  t.strictSame(momentaryValues({ list: ['a'] }, [{ list: ['a', 'b'] }], { list: ['b'] }), [{ list: ['a', 'b'] }])
})

t.test('names, uids, hashes and times are placeholders', async (t) => {
  const names = new GivenNames('life-1')
  names.learn({ kind: 'ReplicaSet', metadata: { name: 'web-5d4b9', uid: uid(1), labels: { 'pod-template-hash': '5d4b9' } } })
  names.learn({ kind: 'Pod', metadata: { name: 'web-5d4b9-x2x4x', generateName: 'web-5d4b9-', uid: uid(2) } })
  names.learn({ kind: 'Pod', metadata: { name: 'db-0', generateName: 'db-', uid: uid(3) } })
  t.equal(
    names.text(`${uid(1)} ${uid(2)} ${uid(3)}`),
    '<uid of ReplicaSet web-<hash 1>> <uid of Pod web-<hash 1>-<random>> <uid of Pod db-0>',
  )
  t.equal(names.text('web-5d4b9-x2x4x in life-1 since 2026-01-01T00:00:00Z'), 'web-<hash 1>-<random> in <namespace> since <time>')
  t.equal(names.text('nightly-29000000 on daemon-2'), 'nightly-<minutes> on daemon-<any>')
  t.strictSame(names.value({ resourceVersion: '1', managedFields: [{ manager: 'a', operation: 'Update', subresource: 'status' }] }), {
    managers: ['a Update status'],
  })
})

t.test('an outcome has the objects, those that the step has created, moments and Events', async (t) => {
  const outcomes = new Outcomes('life')
  const pod = (name: string, digit: number): ObjectHistory =>
    history('Pod', { metadata: { name, generateName: 'web-', uid: uid(digit) }, spec: {} })
  const set = (replicas: number): JsonObject => ({ metadata: { name: 'web', uid: uid(1) }, status: { replicas } })
  const event = {
    metadata: { name: 'e', uid: uid(4) },
    involvedObject: { kind: 'ReplicaSet', name: 'web' },
    type: 'Normal',
    reason: 'SuccessfulCreate',
    source: { component: 'c' },
  }
  const first = [history('ReplicaSet', set(0), set(3), set(2)), pod('web-b2b4b', 2), pod('web-c2c4c', 3), history('Event', event)]
  const outcome = outcomes.of(first)
  t.strictSame(outcome.created, { 'ReplicaSet web': 1, 'Pod web-<random>': 2 })
  t.equal(((outcome.objects as JsonObject)['Pod web-<random>'] as JsonObject[]).length, 2)
  t.strictSame(outcome.moments, { 'ReplicaSet web': [{ 'status.replicas': 3 }] })
  t.strictSame(outcome.events, ['ReplicaSet web: Normal SuccessfulCreate (c)'])
  outcomes.endStep(first)
  const { objects: _objects, ...changes } = outcomes.of(first)
  t.strictSame(changes, { created: {}, deleted: {}, moments: {}, events: [] })
})
