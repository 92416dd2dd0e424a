/** Requests for the table rows of Pods in different states. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Change, Group } from '../group.ts'

/** Returns the status of a container in this state. */
const status = (name: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  image: 'x',
  imageID: 'x',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})
const running = { running: { startedAt: '2020-01-01T00:00:00Z' } }
const ended = (exitCode: number, more: JsonObject = {}): JsonObject => ({ terminated: { exitCode, ...more } })
const waiting = (reason: string): JsonObject => ({ waiting: { reason } })
const inits = { 'spec.initContainers': ['i', 'j'].map((name) => ({ name, image: 'x' })) }
const two = { 'spec.containers': ['a', 'b'].map((name) => ({ name, image: 'x' })) }
const ready = (value: string): JsonObject[] => [{ type: 'Ready', status: value }]
const lastState = (finishedAt: string): JsonObject => ({ terminated: { exitCode: 1, finishedAt } })

export const podRows: Group = {
  name: 'pod-rows',
  type: { kind: 'Pod', plural: 'pods' },
  base: { spec: { containers: [{ name: 'main', image: 'x' }] } },
  states: (
    [
      [{}, { phase: 'Running', containerStatuses: [status('main', running, { ready: true })] }],
      [{}, { phase: 'Running', containerStatuses: [status('main', running)] }],
      [{}, { phase: 'Pending', containerStatuses: [status('main', waiting('ImagePullBackOff'))] }],
      [{}, { phase: 'Pending', containerStatuses: [status('main', { waiting: {} })] }],
      [{}, { phase: 'Failed', reason: 'Evicted' }],
      [{}, { phase: 'Failed', containerStatuses: [status('main', ended(3))] }],
      [{}, { phase: 'Failed', containerStatuses: [status('main', ended(3, { reason: 'Error' }))] }],
      [{}, { phase: 'Failed', containerStatuses: [status('main', ended(3, { signal: 9 }))] }],
      [{}, { phase: 'Succeeded', containerStatuses: [status('main', ended(0, { reason: 'Completed' }))] }],
      [
        two,
        { phase: 'Running', containerStatuses: [status('a', ended(0, { reason: 'Completed' })), status('b', running, { ready: true })] },
      ],
      [
        two,
        {
          phase: 'Running',
          conditions: ready('True'),
          containerStatuses: [status('a', ended(0, { reason: 'Completed' })), status('b', running, { ready: true })],
        },
      ],
      [
        two,
        {
          phase: 'Running',
          conditions: ready('False'),
          containerStatuses: [status('a', ended(0, { reason: 'Completed' })), status('b', running, { ready: true })],
        },
      ],
      [two, { phase: 'Running', containerStatuses: [status('a', waiting('One')), status('b', waiting('Two'))] }],
      [
        two,
        {
          phase: 'Running',
          containerStatuses: [
            status('a', running, { ready: true, restartCount: 2, lastState: lastState('2020-01-01T00:00:00Z') }),
            status('b', running, { ready: true, restartCount: 3, lastState: lastState('2019-01-01T00:00:00Z') }),
          ],
        },
      ],
      [{}, { phase: 'Running', containerStatuses: [status('main', running, { ready: true, restartCount: 4 })] }],
      [{}, { phase: 'Running', containerStatuses: [status('main', running, { lastState: lastState('2019-01-01T00:00:00Z') })] }],
      [inits, { phase: 'Pending' }],
      [inits, { phase: 'Pending', initContainerStatuses: [status('i', running), status('j', waiting('PodInitializing'))] }],
      [inits, { phase: 'Pending', initContainerStatuses: [status('i', ended(0)), status('j', waiting('PodInitializing'))] }],
      [inits, { phase: 'Pending', initContainerStatuses: [status('i', ended(0)), status('j', waiting('CrashLoopBackOff'))] }],
      [inits, { phase: 'Pending', initContainerStatuses: [status('i', ended(1)), status('j', waiting('PodInitializing'))] }],
      [inits, { phase: 'Pending', initContainerStatuses: [status('i', ended(1, { reason: 'Error' }))] }],
      [inits, { phase: 'Pending', initContainerStatuses: [status('i', ended(1, { signal: 9 }))] }],
      [
        inits,
        {
          phase: 'Running',
          initContainerStatuses: [status('i', ended(0)), status('j', ended(0))],
          containerStatuses: [status('main', running)],
        },
      ],
      [
        inits,
        {
          phase: 'Pending',
          initContainerStatuses: [
            status('i', running, { restartCount: 2, lastState: lastState('2020-01-01T00:00:00Z') }),
            status('j', waiting('')),
          ],
        },
      ],
      [
        inits,
        {
          phase: 'Running',
          initContainerStatuses: [status('i', ended(0), { restartCount: 2 }), status('j', ended(0))],
          containerStatuses: [status('main', running, { restartCount: 1 })],
        },
      ],
      [
        { 'spec.initContainers': [{ name: 'i', image: 'x', restartPolicy: 'Always' }] },
        {
          phase: 'Running',
          initContainerStatuses: [status('i', running, { ready: true, started: true, restartCount: 1 })],
          containerStatuses: [status('main', running, { ready: true })],
        },
      ],
      [{ 'spec.schedulingGates': [{ name: 'a/b' }] }, undefined],
      [{ 'spec.nodeName': 'n' }, { phase: 'Running', podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }] }],
      [{}, { phase: 'Pending', nominatedNodeName: 'm' }],
      [
        { 'spec.readinessGates': [{ conditionType: 'a/b' }, { conditionType: 'a/c' }] },
        {
          phase: 'Running',
          conditions: [
            { type: 'a/b', status: 'True' },
            { type: 'a/c', status: 'False' },
          ],
        },
      ],
    ] as readonly (readonly [Change, JsonObject | undefined])[]
  ).map(([from, given]) => ({ from, ...(given === undefined ? {} : { status: { status: given } }) })),
}
