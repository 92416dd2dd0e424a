/** Defaults of Pods and of the Pod templates in workloads (pkg/apis/core/v1 `defaults.go`), and what admission adds to a new Pod. */
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { listAt, textAt } from '../columns.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaults.ts'

/** The default grace period, and how long an admitted Pod stays on a node that is not ready. */
export const defaultGracePeriodSeconds = 30
const nodeFailureTolerationSeconds = 300

export function defaultPodSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: defaultGracePeriodSeconds,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  })
  // The old and the new name of the same field.
  const account = textAt(filled, 'serviceAccountName') || textAt(filled, 'serviceAccount')
  const accounts = account === '' ? filled : withDefaults(filled, { serviceAccountName: account, serviceAccount: account })
  const containers = ['containers', 'initContainers'].reduce((current, field) => changeItems(current, field, defaultContainer), accounts)
  return changeItems(containers, 'volumes', defaultVolume)
}

/** `spec.template.spec` of workloads. */
export function defaultPodTemplate(template: JsonObject): JsonObject {
  return changeObjectField(template, 'spec', defaultPodSpec)
}

function defaultContainer(container: JsonObject): JsonObject {
  const filled = withDefaults(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isLatest(textAt(container, 'image')) ? 'Always' : 'IfNotPresent',
  })
  const ports = changeItems(filled, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }))
  const env = changeItems(ports, 'env', (variable) =>
    changeObjectField(variable, 'valueFrom', (source) =>
      changeObjectField(source, 'fieldRef', (reference) => withDefaults(reference, { apiVersion: 'v1' })),
    ),
  )
  const limits = changeObjectField(env, 'resources', (resources) =>
    // A limit without a request is a request too.
    isObject(resources.limits)
      ? { ...resources, requests: withDefaults(isObject(resources.requests) ? resources.requests : {}, resources.limits) }
      : resources,
  )
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].reduce(
    (current, field) => changeObjectField(current, field, defaultProbe),
    limits,
  )
}

function defaultProbe(probe: JsonObject): JsonObject {
  const filled = withDefaults(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  return changeObjectField(filled, 'httpGet', (action) => withDefaults(action, { path: '/', scheme: 'HTTP' }))
}

function defaultVolume(volume: JsonObject): JsonObject {
  const sources = Object.keys(volume).filter((key) => key !== 'name')
  const filled = sources.length === 0 ? { ...volume, emptyDir: {} } : volume
  return ['secret', 'configMap', 'downwardAPI', 'projected'].reduce(
    (current, field) => changeObjectField(current, field, (source) => withDefaults(source, { defaultMode: 0o644 })),
    filled,
  )
}

/** Whether an image is `:latest`, by name or for want of a tag. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false
  const tag = /:([^/:]+)$/.exec(image)?.[1]
  return tag === undefined || tag === 'latest'
}

/** What the admission plugins ServiceAccount, Priority and DefaultTolerationSeconds add; the token volume is left out, there is nothing to read it. */
export function admitPodSpec(spec: JsonObject): JsonObject {
  const tolerations = listAt(spec, 'tolerations')
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (key) => !tolerations.some((toleration) => tolerates(toleration, key)),
  )
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: nodeFailureTolerationSeconds }))
  const filled = withDefaults(spec, {
    serviceAccountName: 'default',
    serviceAccount: 'default',
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
  })
  return added.length === 0 ? filled : { ...filled, tolerations: [...tolerations, ...added] }
}

function tolerates(toleration: unknown, key: string): boolean {
  if (!isObject(toleration)) return false
  const keys = toleration.key === undefined || toleration.key === '' || toleration.key === key
  return keys && (toleration.effect === undefined || toleration.effect === '' || toleration.effect === 'NoExecute')
}

/** Guaranteed, Burstable or BestEffort, by the containers' requests and limits of CPU and memory. */
export function qosClass(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].filter(isObject)
  const amounts = containers.map((container) =>
    ['cpu', 'memory'].map((resource) => {
      const resources = isObject(container.resources) ? container.resources : {}
      const amount = (kind: 'requests' | 'limits'): string => {
        const map = resources[kind]
        const value = isObject(map) ? map[resource] : undefined
        return value === undefined || value === null ? '' : String(value)
      }
      return { request: amount('requests'), limit: amount('limits') }
    }),
  )
  const all = amounts.flat()
  if (all.every(({ request, limit }) => request === '' && limit === '')) return 'BestEffort'
  return all.every(({ request, limit }) => limit !== '' && (request === '' || request === limit)) ? 'Guaranteed' : 'Burstable'
}
