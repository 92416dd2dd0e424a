import t from 'tap'
import { validateEvent } from '../../../../src/devcluster/resources/builtin/event-validation.ts'

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
