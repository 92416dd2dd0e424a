import t from 'tap'
import { validateEvent, validateNewEvent } from '../../../../src/devcluster/resources/builtin/event-validation.ts'

t.test('an Event about a cluster-scoped object must be in default or, with an eventTime, in kube-system', (t) => {
  const fields = { reportingComponent: 'a.io/b', reportingInstance: 'c', action: 'Act', reason: 'Reason' }
  const elsewhere = ['involvedObject.namespace']
  for (const [namespace, eventTime, paths] of [
    ['default', '', []],
    ['kube-system', '', elsewhere],
    ['other', '', elsewhere],
    ['default', '2026-01-01T00:00:00.000000Z', []],
    ['kube-system', '2026-01-01T00:00:00.000000Z', []],
    ['other', '2026-01-01T00:00:00.000000Z', elsewhere],
  ] as const) {
    const event = {
      metadata: { namespace },
      involvedObject: { kind: 'Node', name: 'n' },
      ...(eventTime !== '' && { eventTime, ...fields }),
    }
    t.strictSame(
      validateEvent(event).map(({ path }) => path),
      paths,
      `${namespace} ${eventTime}`,
    )
  }
  t.end()
})

const newEvent = {
  metadata: { namespace: 'n' },
  involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingComponent: 'a.io/b',
  reportingInstance: 'c',
  action: 'Act',
  reason: 'Reason',
  type: 'Normal',
}

t.test('an Event with an eventTime needs its fields, in their lengths', (t) => {
  const textsOf = (change: object): string[] => validateEvent({ ...newEvent, ...change }).map(({ path, message }) => `${path}: ${message}`)
  t.strictSame(textsOf({}), [])
  const long = { reportingInstance: 'x'.repeat(128), action: 'x'.repeat(128), reason: 'x'.repeat(128), message: 'x'.repeat(1024) }
  t.strictSame(textsOf(long), [])
  t.strictSame(textsOf(Object.fromEntries(Object.entries(long).map(([field, text]) => [field, `${text}x`]))), [
    'reportingInstance: Invalid value: "": can have at most 128 characters',
    'action: Invalid value: "": can have at most 128 characters',
    'reason: Invalid value: "": can have at most 128 characters',
    'message: Invalid value: "": can have at most 1024 characters',
  ])
  const [required, ...others] = textsOf({ reportingComponent: '', reportingInstance: '', action: '', reason: '' })
  t.equal(required, 'reportingComponent: Required value')
  t.strictSame(others.slice(-3), ['reportingInstance: Required value', 'action: Required value', 'reason: Required value'])
  t.end()
})

t.test('a new Event of events.k8s.io must not set the old fields, and its series counts from two', (t) => {
  const textsOf = (change: object, old?: object): string[] =>
    validateNewEvent({ ...newEvent, ...change }, old as never).map(({ path, message }) => `${path}: ${message}`)
  t.strictSame(textsOf({}), [])
  t.strictSame(textsOf({ type: 'Odd', series: { count: 1 }, firstTimestamp: 'x', lastTimestamp: 'x', count: 1, source: { host: 'h' } }), [
    'series.count: Invalid value: "": should be at least 2',
    'series.lastObservedTime: Required value',
    'type: Invalid value: "": has invalid value: Odd',
    'firstTimestamp: Invalid value: "": needs to be unset',
    'lastTimestamp: Invalid value: "": needs to be unset',
    'count: Invalid value: "": needs to be unset',
    'source: Invalid value: "": needs to be unset',
  ])
  t.strictSame(textsOf({ eventTime: '', type: 'Warning', source: { component: 'c' } }), [
    'eventTime: Required value',
    'source: Invalid value: "": needs to be unset',
  ])
  t.strictSame(textsOf({ series: { count: 2, lastObservedTime: 'x' } }), [])
  t.end()
})

t.test('an update of an Event of events.k8s.io may change only its series', (t) => {
  const fixed = ['involvedObject', 'reason', 'message', 'source', 'firstTimestamp', 'lastTimestamp', 'count', 'type', 'eventTime', 'action']
  const alsoFixed = ['related', 'reportingComponent', 'reportingInstance']
  const pathsOf = (change: object): string[] => validateNewEvent({ ...newEvent, ...change }, newEvent).map(({ path }) => path)
  t.strictSame(pathsOf({}), [])
  for (const field of [...fixed, ...alsoFixed]) {
    const before = { ...newEvent, [field]: { changed: 'a' } }
    const found = validateNewEvent(newEvent, before as never).filter(({ message }) => message.endsWith('field is immutable'))
    t.strictSame(
      found.map(({ path }) => path),
      [field === 'reportingComponent' ? 'reportingController' : field],
    )
  }
  t.strictSame(pathsOf({ series: { count: 1, lastObservedTime: 'x' } }), ['series.count'])
  const series = { count: 1 }
  t.strictSame(validateNewEvent({ ...newEvent, series }, { ...newEvent, series }), [], 'an unchanged series is not validated again')
  t.end()
})
