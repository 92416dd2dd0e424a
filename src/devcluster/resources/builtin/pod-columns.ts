/** The table columns of Pods (k8s.io/kubernetes/pkg/printers/internalversion: printPod). */
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { ageColumn, humanAge, nameColumn, orNone, textColumn } from '../columns.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import type { Column } from '../../rest/column.ts'

export const podColumns: readonly Column[] = [
  nameColumn,
  textColumn('Ready', readyOf),
  textColumn('Status', podStatus),
  textColumn('Restarts', restarts),
  ageColumn,
  textColumn('IP', (pod) => orNone(textAt(pod, 'status', 'podIP')), 1),
  textColumn('Node', (pod) => orNone(textAt(pod, 'spec', 'nodeName')), 1),
  textColumn('Nominated Node', (pod) => orNone(textAt(pod, 'status', 'nominatedNodeName')), 1),
  textColumn('Readiness Gates', readinessGates, 1),
]

function statusesOf(pod: JsonObject, field: string): readonly JsonValue[] {
  return listAt(pod, 'status', field)
}

function readyOf(pod: JsonObject): string {
  const sidecars = sidecarsOf(pod)
  const running = statusesOf(pod, 'containerStatuses').filter(isReady).length
  const started = statusesOf(pod, 'initContainerStatuses').filter((status) => isStarted(status, sidecars) && at(status, 'ready') === true)
  return `${running + started.length}/${listAt(pod, 'spec', 'containers').length + sidecars.size}`
}

function isStarted(status: JsonValue, sidecars: ReadonlySet<string>): boolean {
  return sidecars.has(textAt(status, 'name')) && at(status, 'started') === true
}

function isReady(status: JsonValue): boolean {
  return at(status, 'ready') === true && at(status, 'state', 'running') !== undefined
}

/** Returns the cell of the column Status, e.g. `Running`, `Init:0/2`, `CrashLoopBackOff` or `Terminating`. */
function podStatus(pod: JsonObject): string {
  const own = textAt(pod, 'status', 'reason')
  let text = own === '' ? textAt(pod, 'status', 'phase') : own
  const gated = conditions(pod).some(
    (condition) => at(condition, 'type') === 'PodScheduled' && at(condition, 'reason') === 'SchedulingGated',
  )
  if (gated) text = 'SchedulingGated'
  const initializing = initStatus(pod)
  if (initializing !== undefined) {
    text = initializing
  } else {
    let running = false
    for (const status of statusesOf(pod, 'containerStatuses').toReversed()) {
      const waiting = textAt(status, 'state', 'waiting', 'reason')
      const terminated = at(status, 'state', 'terminated')
      if (waiting !== '') text = waiting
      else if (terminated !== undefined) text = endOf(terminated)
      else if (isReady(status)) running = true
    }
    if (text === 'Completed' && running) text = isPodReady(pod) ? 'Running' : 'NotReady'
  }
  if (at(pod, 'metadata', 'deletionTimestamp') === undefined) return text
  if (own === 'NodeLost') return 'Unknown'
  return ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase')) ? text : 'Terminating'
}

function initStatus(pod: JsonObject): string | undefined {
  const total = listAt(pod, 'spec', 'initContainers').length
  const sidecars = sidecarsOf(pod)
  for (const [index, status] of statusesOf(pod, 'initContainerStatuses').entries()) {
    const terminated = at(status, 'state', 'terminated')
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue
    if (isStarted(status, sidecars)) continue
    if (terminated !== undefined) return `Init:${endOf(terminated)}`
    const waiting = textAt(status, 'state', 'waiting', 'reason')
    return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${total}`
  }
  return undefined
}

function endOf(terminated: JsonValue): string {
  const reason = textAt(terminated, 'reason')
  if (reason !== '') return reason
  const signal = numberAt(terminated, 'signal')
  return signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`
}

function isPodReady(pod: JsonObject): boolean {
  return conditions(pod).some((condition) => at(condition, 'type') === 'Ready' && at(condition, 'status') === 'True')
}

function conditions(pod: JsonObject): readonly JsonValue[] {
  return listAt(pod, 'status', 'conditions')
}

/**
 * Returns the cell of the column Restarts, e.g. `3 (5m ago)`. While init containers run, only the restarts of init containers count.
 * Afterwards, only the restarts of regular containers and sidecars count.
 */
function restarts(pod: JsonObject, now: number): string {
  const sidecars = sidecarsOf(pod)
  const inits = statusesOf(pod, 'initContainerStatuses')
  const statuses =
    initStatus(pod) === undefined
      ? [...inits.filter((status) => sidecars.has(textAt(status, 'name'))), ...statusesOf(pod, 'containerStatuses')]
      : inits
  const count = statuses.reduce((sum: number, status) => sum + numberAt(status, 'restartCount'), 0)
  const last =
    statuses
      .map((status) => textAt(status, 'lastState', 'terminated', 'finishedAt'))
      .sort()
      .at(-1) ?? ''
  return count === 0 || last === '' ? String(count) : `${count} (${humanAge(last, now)} ago)`
}

/** Returns the names of the sidecars: the init containers with the restart policy `Always`. */
function sidecarsOf(pod: JsonObject): ReadonlySet<string> {
  const names = listAt(pod, 'spec', 'initContainers').filter((container) => textAt(container, 'restartPolicy') === 'Always')
  return new Set(names.map((container) => textAt(container, 'name')))
}

function readinessGates(pod: JsonObject): string {
  const gates = listAt(pod, 'spec', 'readinessGates')
  if (gates.length === 0) return '<none>'
  const open = gates.filter((gate) =>
    conditions(pod).some((condition) => at(condition, 'type') === at(gate, 'conditionType') && at(condition, 'status') === 'True'),
  )
  return `${open.length}/${gates.length}`
}
