/**
 * How the lists and maps of the built-in types merge: one table for strategic merge patch and server-side apply.
 *
 * It stands for the `patchMergeKey`, `listType` and `mapType` markers in Kubernetes' Go types. Fields are found by their name,
 * and by the field that holds them where one name means several things; lists that are not named are atomic, maps granular.
 */
import type { JsonValue } from '../../api/json.ts'

export interface ListRule {
  /** What identifies an item in a strategic merge patch; undefined: the items are scalars. */
  readonly mergeKey?: string
  /** What identifies an item in server-side apply. */
  readonly keys: readonly string[]
  /** Values of keys that an item leaves out. */
  readonly keyDefaults?: Readonly<Record<string, JsonValue>>
}

function map(mergeKey: string, keys: readonly string[] = [mergeKey], keyDefaults: Readonly<Record<string, JsonValue>> = {}): ListRule {
  return { mergeKey, keys, keyDefaults }
}

const set: ListRule = { keys: [] }
const containerPorts = map('containerPort', ['containerPort', 'protocol'], { protocol: 'TCP' })
const servicePorts = map('port', ['port', 'protocol'], { protocol: 'TCP' })

const lists: Readonly<Record<string, ListRule>> = {
  // metadata
  ownerReferences: map('uid'),
  finalizers: set,
  // pods
  containers: map('name'),
  initContainers: map('name'),
  ephemeralContainers: map('name'),
  volumes: map('name'),
  imagePullSecrets: map('name'),
  hostAliases: map('ip'),
  readinessGates: map('conditionType'),
  schedulingGates: map('name'),
  resourceClaims: map('name'),
  topologySpreadConstraints: map('topologyKey', ['topologyKey', 'whenUnsatisfiable']),
  env: map('name'),
  volumeMounts: map('mountPath'),
  volumeDevices: map('devicePath'),
  'containers.ports': containerPorts,
  'initContainers.ports': containerPorts,
  'ephemeralContainers.ports': containerPorts,
  podIPs: map('ip'),
  hostIPs: map('ip'),
  // status
  conditions: map('type'),
  // services, service accounts, nodes, persistent volume claims
  'spec.ports': servicePorts,
  secrets: map('name'),
  taints: map('key', ['key', 'effect']),
  'status.addresses': map('type'),
  podCIDRs: set,
  // workloads
  volumeClaimTemplates: map('name'),
  // admission configurations
  webhooks: map('name'),
  matchConditions: map('name'),
}

/** Maps that are replaced as a whole. */
const atomicMaps: ReadonlySet<string> = new Set([
  'selector',
  'labelSelector',
  'namespaceSelector',
  'objectSelector',
  'podSelector',
  'nodeSelector',
  'configMapKeyRef',
  'secretKeyRef',
  'fieldRef',
  'resourceFieldRef',
  'secretRef',
  'involvedObject',
  'claimRef',
  'roleRef',
  'scaleTargetRef',
])

/** How a list merges; undefined: it is atomic. `parent` is the field (of an item, the list) that holds it. */
export function listRule(parent: string, field: string): ListRule | undefined {
  return ownRule(`${parent}.${field}`) ?? ownRule(field)
}

export function isAtomicMap(field: string): boolean {
  return atomicMaps.has(field)
}

function ownRule(name: string): ListRule | undefined {
  return Object.hasOwn(lists, name) ? lists[name] : undefined
}
