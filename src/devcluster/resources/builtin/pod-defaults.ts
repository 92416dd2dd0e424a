/** Defaults of Pods and Pod templates (k8s.io/kubernetes/pkg/apis/core/v1: defaults.go). */
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import { parseQuantity } from '../../apimachinery/quantity.ts'

export const defaultGracePeriodSeconds = 30

/** Applies defaults to the spec of a Pod: the defaults of Pod templates, and the defaults that only Pods have. */
export function defaultPod(given: JsonObject): JsonObject {
  // kube-apiserver replaces a negative grace period with 1 second.
  const spec = numberAt(given, 'terminationGracePeriodSeconds') < 0 ? { ...given, terminationGracePeriodSeconds: 1 } : given
  const filled = withDefaults(defaultPodSpec(spec), { enableServiceLinks: true })
  return ['containers', 'initContainers'].reduce(
    (current, field) =>
      changeItems(current, field, (container) => {
        // The request of a resource defaults to the limit of the resource.
        const requested = changeObjectField(container, 'resources', (resources) =>
          isObject(resources.limits)
            ? { ...resources, requests: withDefaults(isObject(resources.requests) ? resources.requests : {}, resources.limits) }
            : resources,
        )
        if (filled.hostNetwork !== true) return requested
        return changeItems(requested, 'ports', (port) => withDefaults(port, { hostPort: port.containerPort }))
      }),
    filled,
  )
}

function defaultPodSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: defaultGracePeriodSeconds,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  })
  // `serviceAccount` is the deprecated alias of `serviceAccountName`.
  const account = textAt(filled, 'serviceAccountName') || textAt(filled, 'serviceAccount')
  const accounts = account === '' ? filled : { ...filled, serviceAccountName: account, serviceAccount: account }
  const containers = ['containers', 'initContainers', 'ephemeralContainers'].reduce(
    (current, field) => changeItems(current, field, defaultContainer),
    accounts,
  )
  return changeItems(containers, 'volumes', defaultVolume)
}

/** Applies defaults to the spec of a Pod template. */
export function defaultPodTemplate(template: JsonObject): JsonObject {
  return changeObjectField(template, 'spec', defaultPodSpec)
}

function defaultContainer(container: JsonObject): JsonObject {
  const filled = withDefaults(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyOf(textAt(container, 'image')),
  })
  const ports = changeItems(filled, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }))
  const env = changeItems(ports, 'env', (variable) => changeObjectField(variable, 'valueFrom', defaultFieldRef))
  const probed = ['livenessProbe', 'readinessProbe', 'startupProbe'].reduce(
    (current, field) => changeObjectField(current, field, defaultProbe),
    env,
  )
  return changeObjectField(probed, 'lifecycle', (lifecycle) =>
    ['postStart', 'preStop'].reduce((current, field) => changeObjectField(current, field, defaultHandler), lifecycle),
  )
}

function defaultProbe(probe: JsonObject): JsonObject {
  return defaultHandler(withDefaults(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }))
}

function defaultHandler(handler: JsonObject): JsonObject {
  const filled = changeObjectField(handler, 'httpGet', (action) => withDefaults(action, { path: '/', scheme: 'HTTP' }))
  return changeObjectField(filled, 'grpc', (action) => withDefaults(action, { service: '' }))
}

function defaultVolume(volume: JsonObject): JsonObject {
  const sources = Object.keys(volume).filter((key) => key !== 'name')
  const given = sources.length === 0 ? { ...volume, emptyDir: {} } : volume
  const filled = changeObjectField(defaultDownward(given), 'hostPath', (source) => withDefaults(source, { type: '' }))
  const projected = changeObjectField(filled, 'projected', (source) =>
    changeItems(source, 'sources', (projection) =>
      changeObjectField(defaultDownward(projection), 'serviceAccountToken', (token) => withDefaults(token, { expirationSeconds: 3600 })),
    ),
  )
  const claimed = changeObjectField(projected, 'ephemeral', (source) =>
    changeObjectField(source, 'volumeClaimTemplate', (template) =>
      changeObjectField(template, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' })),
    ),
  )
  const pulled = changeObjectField(claimed, 'image', (source) =>
    withDefaults(source, { pullPolicy: pullPolicyOf(textAt(source, 'reference')) }),
  )
  return ['secret', 'configMap', 'downwardAPI', 'projected'].reduce(
    (current, field) => changeObjectField(current, field, (source) => withDefaults(source, { defaultMode: 0o644 })),
    pulled,
  )
}

function defaultDownward(source: JsonObject): JsonObject {
  return changeObjectField(source, 'downwardAPI', (downward) => changeItems(downward, 'items', defaultFieldRef))
}

function defaultFieldRef(source: JsonObject): JsonObject {
  return changeObjectField(source, 'fieldRef', (reference) => withDefaults(reference, { apiVersion: 'v1' }))
}

function pullPolicyOf(image: string): string {
  return isLatest(image) ? 'Always' : 'IfNotPresent'
}

/** Returns true when the image has no digest, and its tag is `latest` or missing. Returns false for an invalid image. */
function isLatest(image: string): boolean {
  if (image === '' || image.includes('@') || /\s/.test(image)) return false
  const tag = /:([^/:]+)$/.exec(image)?.[1]
  return tag === undefined || tag === 'latest'
}

/** Returns the QoS class of a Pod, from its containers' requests and limits for CPU and memory. */
export function qosClass(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].filter(isObject)
  const amounts = containers.map((container) =>
    ['cpu', 'memory'].map((resource) => {
      const resources = isObject(container.resources) ? container.resources : {}
      const amount = (kind: 'requests' | 'limits'): number => parseQuantity(at(resources, kind, resource)) ?? 0
      return { request: amount('requests'), limit: amount('limits') }
    }),
  )
  const all = amounts.flat()
  // A request or limit of zero counts as missing.
  if (all.every(({ request, limit }) => request === 0 && limit === 0)) return 'BestEffort'
  return all.every(({ request, limit }) => limit !== 0 && (request === 0 || request === limit)) ? 'Guaranteed' : 'Burstable'
}
