/** The Pods of a DaemonSet: their tolerations, nodes and revisions (k8s.io/kubernetes/pkg/controller/daemon/util). */
import type { Pod, PodSpec } from '../../../../api/builtin.ts'
import type { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { jsonEqual } from '../../../../api/json.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { podFromTemplate } from '../pod-control.ts'
import { podRevision, podRevisionLabel } from '../revisions/revision.ts'

export type DaemonSet = DeepReadonly<apps.DaemonSet>
type Tolerations = NonNullable<PodSpec['tolerations']>

/** This annotation of a DaemonSet contains the generation of the Pod template. */
const generationAnnotation = 'deprecated.daemonset.template.generation'
/** This label of a Pod contains the generation of the Pod template from which the Pod was created. */
const generationLabel = 'pod-template-generation'
const nodeNameField = 'metadata.name'

/** The names and effects of the taints that every Pod of a DaemonSet tolerates. */
const toleratedTaints = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
] as const
const hostNetworkTaint = ['network-unavailable', 'NoSchedule'] as const

/**
 * Returns the tolerations of the Pods: the tolerations of the template, and the tolerations that Kubernetes adds to the Pods of every
 * DaemonSet. If the template contains one of the added tolerations with `tolerationSeconds`, the result contains this toleration without
 * `tolerationSeconds` (…/util: AddOrUpdateDaemonPodTolerations).
 */
export function tolerationsOf({ spec }: DaemonSet): Tolerations {
  const { tolerations = [], hostNetwork } = spec?.template.spec ?? {}
  const added = [...toleratedTaints, ...(hostNetwork === true ? [hostNetworkTaint] : [])].map(([name, effect]) => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect,
  }))
  const missing = added.filter((one) => !tolerations.some((given) => jsonEqual({ ...given, tolerationSeconds: undefined }, one)))
  const permanent = tolerations.map((given) => added.find((one) => jsonEqual({ ...given, tolerationSeconds: undefined }, one)) ?? given)
  return [...permanent, ...missing]
}

/**
 * Returns the generation of the Pod template from the annotation of the DaemonSet, as a decimal string. Returns undefined when the
 * annotation is missing or is not an integer.
 */
function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[generationAnnotation] ?? ''
  return /^[+-]?\d+$/.test(text) ? String(Number(text)) : undefined
}

/**
 * Returns the Pod for a node. The node affinity of the Pod selects the node by name, so the scheduler can bind the Pod only to this node.
 */
export function podFor(set: DaemonSet, node: string, hash: string): ObjectInput<Pod> {
  const { metadata, spec } = podFromTemplate(set.spec?.template, set)
  const generation = templateGeneration(set)
  const labels = { ...metadata.labels, ...(generation !== undefined && { [generationLabel]: generation }), [podRevisionLabel]: hash }
  const { affinity } = spec ?? {}
  const required = { nodeSelectorTerms: [{ matchFields: [{ key: nodeNameField, operator: 'In', values: [node] }] }] }
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required }
  return {
    metadata: { ...metadata, labels },
    spec: { ...spec, affinity: { ...affinity, nodeAffinity }, tolerations: tolerationsOf(set) },
  } as ObjectInput<Pod>
}

/**
 * Returns the name of the node to which a Pod is bound. For an unbound Pod, returns the name of the node that the node affinity of the Pod
 * selects; undefined if the affinity does not select one node by name (…/util: GetTargetNodeName).
 */
export function targetNode({ spec }: ReadonlyPod): string | undefined {
  if (spec?.nodeName) return spec.nodeName
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields)
  const { values } = fields.find(({ key, operator }) => key === nodeNameField && operator === 'In') ?? {}
  return values?.length === 1 ? values[0] : undefined
}

/** Returns true when a Pod was created from the current Pod template (…/util: IsPodUpdated). */
export function isUpdated(set: DaemonSet, pod: ReadonlyPod, hash: string): boolean {
  const generation = templateGeneration(set)
  const isOfGeneration = generation !== undefined && pod.metadata.labels?.[generationLabel] === generation
  return isOfGeneration || (hash !== '' && podRevision(pod) === hash)
}

/** Compares Pods of a node: bound Pods come before unbound Pods, and older Pods before younger Pods. */
export function compareDaemonPods(a: ReadonlyPod, b: ReadonlyPod): number {
  const isUnbound = ({ spec }: ReadonlyPod): number => (spec?.nodeName ? 0 : 1)
  const created = ({ metadata }: ReadonlyPod): number => Date.parse(metadata.creationTimestamp)
  return isUnbound(a) - isUnbound(b) || created(a) - created(b) || (a.metadata.name < b.metadata.name ? -1 : 1)
}

export type PodsByNode = ReadonlyMap<string, readonly ReadonlyPod[]>

/**
 * Groups Pods by the names of their nodes. A Pod that has ended and is being deleted is omitted. The node therefore gets a new Pod
 * (…/daemon: getNodesToDaemonPods).
 */
export function podsByNode(pods: readonly ReadonlyPod[]): PodsByNode {
  const groups = new Map<string, ReadonlyPod[]>()
  for (const pod of pods.toSorted(compareDaemonPods)) {
    const hasEnded = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
    const node = targetNode(pod)
    if (node === undefined || (hasEnded && pod.metadata.deletionTimestamp !== undefined)) continue
    groups.set(node, [...(groups.get(node) ?? []), pod])
  }
  return groups
}
