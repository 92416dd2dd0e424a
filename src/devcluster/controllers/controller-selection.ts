/**
 * Selects the controllers that run. The names and the syntax are the same as in kube-controller-manager's flag `--controllers`. The
 * scheduler and the kubelets cannot be selected, because they are not part of kube-controller-manager.
 */
import type { OptionCheck } from '../../api/option-checks.ts'
import { describeFound, expect, suggestion } from '../../api/option-checks.ts'

/** The controllers of the embedded cluster (k8s.io/kubernetes/cmd/kube-controller-manager/names: controller_names.go). */
export const controllerNames = [
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-cleaner-controller',
  'certificatesigningrequest-signing-controller',
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'job-controller',
  'namespace-controller',
  'node-lifecycle-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'statefulset-controller',
  'taint-eviction-controller',
  'ttl-after-finished-controller',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** `NAME` selects a controller, `-NAME` omits a controller, and `*` selects all controllers that the list does not name. */
export type ControllerSelector = ControllerName | `-${ControllerName}` | '*'

/**
 * With `true`, the scheduler, the nodes and all controllers run. With `false`, none of them runs. With a list, the scheduler, the nodes and
 * the selected controllers run.
 */
export type ControllerSelection = boolean | readonly ControllerSelector[]

/**
 * Returns true when a controller is selected. In a list, the first item that names the controller decides. If no item names the controller,
 * the item `*` selects it (k8s.io/controller-manager/app: IsControllerEnabled).
 */
export function isSelected(selection: ControllerSelection, name: ControllerName): boolean {
  if (typeof selection === 'boolean') return selection
  const decisive = selection.find((item) => item === name || item === `-${name}`) ?? selection.find((item) => item === '*')
  return decisive === name || decisive === '*'
}

const isBooleanOrList: OptionCheck = expect('true, false or a list of controllers', (value) => typeof value === 'boolean')

/** Checks that the value of an option is a `ControllerSelection`. */
export const isControllerSelection: OptionCheck = (value, path) => {
  if (!Array.isArray(value)) return isBooleanOrList(value, path)
  const items: readonly unknown[] = value
  const unknown = items.filter((item) => !isSelector(item))
  if (unknown.length > 0) return unknownItems(unknown, path)
  const omits = items.length > 0 && items.every((item) => String(item).startsWith('-'))
  return omits ? [`${path}: names only controllers that do not run, so that no controller runs: add "*" for all others`] : []
}

function isSelector(item: unknown): item is ControllerSelector {
  const known: readonly unknown[] = controllerNames
  return item === '*' || known.includes(item) || (typeof item === 'string' && item.startsWith('-') && known.includes(item.slice(1)))
}

/**
 * Returns the error messages for unknown items. Each item that is probably misspelled gets its own message. One message for all other items
 * lists the known names.
 */
function unknownItems(unknown: readonly unknown[], path: string): string[] {
  const problems: string[] = []
  const others: string[] = []
  for (const item of unknown) {
    const meant = meantBy(item)
    if (meant === '') others.push(describeFound(item))
    else problems.push(`${path}: unknown controller ${describeFound(item)}${meant}`)
  }
  if (others.length === 0) return problems
  const found = `${others.length === 1 ? 'controller' : 'controllers'} ${others.join(', ')}`
  const known = `the controllers are ${controllerNames.join(', ')}; "-" before a name omits it, "*" means all`
  return [...problems, `${path}: unknown ${found}: ${known}`]
}

/**
 * Returns a suggestion if the item is a misspelled name, or a name without the ending `-controller`; an empty string for any other item.
 */
function meantBy(item: unknown): string {
  if (typeof item !== 'string') return ''
  const sign = item.startsWith('-') ? '-' : ''
  const known = controllerNames.map((name) => sign + name)
  return suggestion(item, known) || suggestion(`${item}-controller`, known)
}
