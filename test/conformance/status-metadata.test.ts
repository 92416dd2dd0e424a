/** Tests of the `metadata` fields that change when a client writes to the subresource `status` of a built-in type. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { certificateRequests, requestField } from '../support/certs/certificate-requests.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-status-metadata'
const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, connection)

const name = 'status-metadata'
const group = 'status-metadata.conformance.example.com'
const mergePatch = 'application/merge-patch+json'
const labels = { app: 'web' }
const selector = { matchLabels: labels }
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
const once = { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } }

const allFields = ['annotations', 'finalizers', 'labels', 'ownerReferences']

/**
 * The spec of an object of each type, and the `metadata` fields that a write to the subresource `status` changes. Default of `changes`: all
 * fields.
 */
const types: Readonly<Record<string, { spec: object; name?: string; changes?: readonly string[] }>> = {
  '/api/v1/namespaces': { spec: {} },
  '/api/v1/nodes': { spec: {} },
  '/api/v1/persistentvolumes': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
  },
  [`/api/v1/namespaces/${namespace}/persistentvolumeclaims`]: {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  [`/api/v1/namespaces/${namespace}/pods`]: {
    spec: { ...template.spec, automountServiceAccountToken: false },
    changes: ['annotations', 'finalizers', 'labels'],
  },
  [`/api/v1/namespaces/${namespace}/replicationcontrollers`]: { spec: { replicas: 0, selector: labels, template } },
  [`/api/v1/namespaces/${namespace}/resourcequotas`]: { spec: { hard: { configmaps: '100' } } },
  [`/api/v1/namespaces/${namespace}/services`]: { spec: { clusterIP: 'None', selector: labels } },
  [`/apis/apps/v1/namespaces/${namespace}/daemonsets`]: { spec: { selector, template } },
  [`/apis/apps/v1/namespaces/${namespace}/deployments`]: {
    spec: { replicas: 0, selector, template },
    changes: ['annotations', 'finalizers', 'ownerReferences'],
  },
  [`/apis/apps/v1/namespaces/${namespace}/replicasets`]: { spec: { replicas: 0, selector, template } },
  [`/apis/apps/v1/namespaces/${namespace}/statefulsets`]: { spec: { replicas: 0, serviceName: 'a', selector, template } },
  [`/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`]: {
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } },
  },
  [`/apis/batch/v1/namespaces/${namespace}/cronjobs`]: { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: once } } },
  [`/apis/batch/v1/namespaces/${namespace}/jobs`]: { spec: { suspend: true, ...once } },
  [`/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`]: {
    spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
  },
  [`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`]: { spec: { minAvailable: 1, selector } },
  '/apis/certificates.k8s.io/v1/certificatesigningrequests': {
    spec: { request: requestField(certificateRequests.jane), signerName: 'example.com/signer', usages: ['client auth'] },
  },
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions': {
    name: `things.${group}`,
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  '/apis/apiregistration.k8s.io/v1/apiservices': {
    name: `v1.aggregated.${group}`,
    spec: {
      group: `aggregated.${group}`,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { namespace, name: 'a' },
    },
    changes: [],
  },
}

const metadata = {
  labels: { written: 'by-status' },
  annotations: { written: 'by-status' },
  finalizers: ['conformance.example.com/written'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'nobody' }],
}

/** Returns true if each value in `written` is also a value in `stored`. The server may have added other values to `stored`. */
function contains(stored: object | undefined, written: object): boolean {
  return Object.values(written).every((value) => Object.values(stored ?? {}).some((one) => isDeepStrictEqual(one, value)))
}

async function metadataAt(url: string): Promise<Readonly<Record<string, object | undefined>>> {
  return (await api('GET', url)).body.metadata as Record<string, object | undefined>
}

/** Returns the names of the metadata fields in the managedFields entry with the operation `wanted` and the subresource `status`. */
function ownedBy({ managedFields = [] }: Readonly<Record<string, object | undefined>>, wanted: 'Apply' | 'Update'): readonly string[] {
  const entries = managedFields as { operation: string; subresource?: string; fieldsV1: { 'f:metadata'?: object } }[]
  const entry = entries.find(({ operation, subresource }) => operation === wanted && subresource === 'status')
  return Object.keys(entry?.fieldsV1['f:metadata'] ?? {})
    .map((field) => field.replace('f:', ''))
    .sort()
}

for (const [path, { spec, name: own = name, changes = allFields }] of Object.entries(types))
  t.test(`PATCH ${path.replace(/^\/apis?\//, '')}/…/status`, async (t) => {
    const url = `${path}/${own}`
    t.teardown(async () => {
      await api('PATCH', url, { body: { metadata: { finalizers: null } }, contentType: mergePatch })
      await api('DELETE', url)
    })
    const created = await api('POST', path, { body: { metadata: { name: own, labels: { created: 'yes' } }, spec } })
    t.equal(created.status, 201, created.text)
    const written = await api('PATCH', `${url}/status`, { body: { metadata }, contentType: mergePatch })
    t.equal(written.status, 200, written.text)
    const stored = await metadataAt(url)
    const changed = Object.entries(metadata).filter(([field, value]) => contains(stored[field], value))
    t.strictSame(changed.map(([field]) => field).sort(), changes)
    t.strictSame(ownedBy(stored, 'Update'), changes)
    const applied = await api('PATCH', `${url}/status?fieldManager=applier&force=true`, {
      body: { apiVersion: created.body.apiVersion, kind: created.body.kind, metadata },
      contentType: 'application/apply-patch+yaml',
    })
    t.equal(applied.status, 200, applied.text)
    t.strictSame(ownedBy(await metadataAt(url), 'Apply'), changes)
  })
