/** The admission plugins ServiceAccount, LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass and PodTopologyLabels for new Pods. */
import { sleep } from '../../../runtime/waiting.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../../api/json.ts'
import { forbidden } from '../../apimachinery/status-error.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ClusterView } from '../../rest/strategy.ts'
import { topologyLabels } from './topology-labels.ts'

const subject = { group: '', kind: 'Pod', plural: 'pods' }

export async function admitPod(pod: JsonObject, cluster: ClusterView): Promise<JsonObject> {
  const accounted = cluster.hasServiceAccounts ? await withServiceAccount(pod, cluster) : pod
  const limited = withLimits(accounted, cluster.list('/limitranges', textAt(pod, 'metadata', 'namespace')))
  const ranked = withPriority(limited, cluster)
  const tolerant = changeObjectField(ranked, 'spec', withTolerations)
  checkRuntimeClass(tolerant)
  return withTopology(tolerant, cluster)
}

/**
 * Rejects a Pod that has `spec.overhead` but no `spec.runtimeClassName` (k8s.io/kubernetes/plugin/pkg/admission/runtimeclass). The
 * existence of the RuntimeClass is not checked, because this server does not serve RuntimeClasses.
 */
function checkRuntimeClass(pod: JsonObject): void {
  if (textAt(pod, 'spec', 'runtimeClassName') !== '' || at(pod, 'spec', 'overhead') === undefined) return
  const name = textAt(pod, 'metadata', 'name')
  throw forbidden(subject, name, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
}

/** Adds the topology labels of the node to a Pod that is created with `spec.nodeName`. */
function withTopology(pod: JsonObject, cluster: ClusterView): JsonObject {
  const node = textAt(pod, 'spec', 'nodeName')
  const labels = node === '' ? {} : topologyLabels(node, cluster)
  if (Object.keys(labels).length === 0) return pod
  return changeObjectField(pod, 'metadata', (metadata) => ({
    ...metadata,
    labels: { ...(isObject(metadata.labels) && metadata.labels), ...labels },
  }))
}

const defaultAccount = 'default'
/**
 * Maximum number of lookups of the default ServiceAccount. Directly after a namespace has been created, this ServiceAccount can be missing.
 * Ten lookups, with `accountRetryMs` between them, take about a second (k8s.io/kubernetes/plugin/pkg/admission/serviceaccount).
 */
const accountAttempts = 10
const accountRetryMs = 100

async function withServiceAccount(pod: JsonObject, cluster: ClusterView): Promise<JsonObject> {
  const namespace = textAt(pod, 'metadata', 'namespace')
  const name = textAt(pod, 'spec', 'serviceAccountName') || defaultAccount
  const find = (): JsonObject | undefined => cluster.get('/serviceaccounts', { namespace, name })
  for (let attempt = 1; name === defaultAccount && attempt < accountAttempts && find() === undefined; attempt += 1)
    await sleep(cluster.clock, accountRetryMs)
  const account = find()
  if (account === undefined) {
    const detail = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`
    throw forbidden(subject, textAt(pod, 'metadata', 'name'), detail)
  }
  return changeObjectField(pod, 'spec', (spec) => {
    const named = { ...spec, serviceAccountName: name, serviceAccount: name }
    const automount = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
    const mounted = automount === true ? withTokenVolume(named, cluster.randomSuffix) : named
    const secrets = listAt(account, 'imagePullSecrets')
    return secrets.length > 0 && listAt(spec, 'imagePullSecrets').length === 0 ? { ...mounted, imagePullSecrets: [...secrets] } : mounted
  })
}

const volumePrefix = 'kube-api-access-'
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/**
 * Lifetime of mounted tokens in seconds: one hour and seven seconds. The additional seven seconds distinguish mounted tokens from tokens
 * that a client requests (k8s.io/kubernetes/pkg/serviceaccount: WarnOnlyBoundTokenExpirationSeconds).
 */
const tokenSeconds = 3607

/** Mounts a token, the CA and the name of the namespace into all containers, at the path at which client libraries read them. */
function withTokenVolume(spec: JsonObject, randomSuffix: () => string): JsonObject {
  const known = listAt(spec, 'volumes').map((volume) => textAt(volume, 'name'))
  const existing = known.find((name) => name.startsWith(volumePrefix))
  const name = existing ?? volumePrefix + randomSuffix()
  const mount = { name, readOnly: true, mountPath }
  const mounted = ['initContainers', 'containers'].reduce(
    (current, field) =>
      changeItems(current, field, (container) => {
        const mounts = listAt(container, 'volumeMounts')
        return mounts.some((other) => textAt(other, 'mountPath') === mountPath)
          ? container
          : { ...container, volumeMounts: [...mounts, mount] }
      }),
    spec,
  )
  if (mounted === spec || existing !== undefined) return mounted
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: tokenSeconds } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
  ]
  return { ...mounted, volumes: [...listAt(spec, 'volumes'), { name, projected: { defaultMode: 0o644, sources } }] }
}

/** Applies the defaults in the LimitRanges of the namespace to the requests and limits of the containers. */
function withLimits(pod: JsonObject, limitRanges: readonly JsonObject[]): JsonObject {
  return limitRanges.reduce((current, limitRange) => {
    const items = listAt(limitRange, 'spec', 'limits').filter((item) => textAt(item, 'type') === 'Container')
    const merged = (field: string): JsonObject => Object.assign({}, ...items.map((item) => at(item, field) ?? {})) as JsonObject
    const defaults = { limits: merged('default'), requests: merged('defaultRequest') }
    const notes: string[] = []
    const limited = changeObjectField(current, 'spec', (spec) => {
      const containers = changeItems(spec, 'containers', (container) => limitContainer(container, defaults, 'container', notes))
      return changeItems(containers, 'initContainers', (container) => limitContainer(container, defaults, 'init container', notes))
    })
    if (notes.length === 0) return limited
    const metadata = isObject(limited.metadata) ? limited.metadata : {}
    const annotations = { ...(isObject(metadata.annotations) ? metadata.annotations : {}) }
    annotations['kubernetes.io/limit-ranger'] = `LimitRanger plugin set: ${notes.join('; ')}`
    return { ...limited, metadata: { ...metadata, annotations } }
  }, pod)
}

function limitContainer(
  container: JsonObject,
  defaults: Readonly<Record<'limits' | 'requests', JsonObject>>,
  what: string,
  notes: string[],
): JsonObject {
  let resources: JsonObject = isObject(container.resources) ? container.resources : {}
  for (const [field, note] of [
    ['requests', 'request'],
    ['limits', 'limit'],
  ] as const) {
    const given = isObject(resources[field]) ? resources[field] : {}
    const missing = Object.keys(defaults[field]).filter((name) => getOwn(given, name) === undefined)
    if (missing.length === 0) continue
    const filled = { ...given }
    for (const name of missing) setOwn(filled, name, getOwn(defaults[field], name)!)
    resources = { ...resources, [field]: filled }
    notes.push(`${missing.sort().join(', ')} ${note} for ${what} ${textAt(container, 'name')}`)
  }
  return resources === container.resources ? container : { ...container, resources }
}

/** The values of the PriorityClasses that every cluster has. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

function withPriority(pod: JsonObject, cluster: ClusterView): JsonObject {
  return changeObjectField(pod, 'spec', (spec) => {
    const refuse = (detail: string): Error => forbidden(subject, textAt(pod, 'metadata', 'name'), detail)
    const wanted = textAt(spec, 'priorityClassName')
    const found = wanted === '' ? defaultPriorityClass(cluster) : priorityClass(wanted, cluster)
    if (found === undefined && wanted !== '') throw refuse(`no PriorityClass with name ${wanted} was found`)
    const priority = numberAt(found, 'value')
    if (typeof spec.priority === 'number' && spec.priority !== priority) {
      const rule = 'must not be provided in pod spec; priority admission controller computed'
      throw refuse(`the integer value of priority (${spec.priority}) ${rule} ${priority} from the given PriorityClass name`)
    }
    const preemptionPolicy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority'
    const given = textAt(spec, 'preemptionPolicy') || preemptionPolicy
    if (given !== preemptionPolicy) {
      const rule = 'must not be provided in pod spec; priority admission controller computed'
      throw refuse(`the string value of PreemptionPolicy (${given}) ${rule} ${preemptionPolicy} from the given PriorityClass name`)
    }
    const priorityClassName = wanted === '' ? textAt(found, 'metadata', 'name') : ''
    return { ...withDefaults(spec, { preemptionPolicy }), ...(priorityClassName === '' ? {} : { priorityClassName }), priority }
  })
}

function priorityClass(name: string, cluster: ClusterView): JsonObject | undefined {
  const value = getOwn(systemPriorities as JsonObject, name)
  return cluster.get('scheduling.k8s.io/priorityclasses', { name }) ?? (value === undefined ? undefined : { value })
}

/**
 * Returns the PriorityClass with `globalDefault: true`. If there are several such PriorityClasses, returns the PriorityClass with the
 * lowest value.
 */
function defaultPriorityClass(cluster: ClusterView): JsonObject | undefined {
  const defaults = cluster.list('scheduling.k8s.io/priorityclasses').filter((candidate) => candidate.globalDefault === true)
  return defaults.sort((a, b) => numberAt(a, 'value') - numberAt(b, 'value'))[0]
}

/** The `tolerationSeconds` of the default tolerations: a Pod stays on a not-ready or unreachable node for this time. */
const nodeFailureTolerationSeconds = 300

export function withTolerations(spec: JsonObject): JsonObject {
  const tolerations = listAt(spec, 'tolerations')
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (key) => !tolerations.some((toleration) => tolerates(toleration, key)),
  )
  if (missing.length === 0) return spec
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: nodeFailureTolerationSeconds }))
  return { ...spec, tolerations: [...tolerations, ...added] }
}

function tolerates(toleration: JsonValue, key: string): boolean {
  if (!isObject(toleration)) return false
  const keys = toleration.key === undefined || toleration.key === '' || toleration.key === key
  return keys && (toleration.effect === undefined || toleration.effect === '' || toleration.effect === 'NoExecute')
}
