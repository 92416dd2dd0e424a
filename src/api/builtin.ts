/** Kubernetes' own types that operators meet, with their static types. */
import type * as models from '@kubernetes/client-node'
import type { KubernetesObject, ObjectMeta } from './object.ts'
import type { ResourceType } from './group-version-kind.ts'
import { resourceType } from './group-version-kind.ts'

/** A model of client-node as it is in JSON: times are strings, and names that are words of a language have no `_` before them. */
export type Jsonify<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Jsonify<Item>[]
    : T extends object
      ? { [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Jsonify<T[Key]> }
      : T

type Model<T, ApiVersion extends string, KindName extends string> = Omit<Jsonify<T>, 'apiVersion' | 'kind' | 'metadata'> & {
  apiVersion: ApiVersion
  kind: KindName
  metadata: ObjectMeta
}

export type Pod = Model<models.V1Pod, 'v1', 'Pod'>
export type PodSpec = Jsonify<models.V1PodSpec>
export type Node = Model<models.V1Node, 'v1', 'Node'>
export type Namespace = Model<models.V1Namespace, 'v1', 'Namespace'>
export type Secret = Model<models.V1Secret, 'v1', 'Secret'>
export type ConfigMap = Model<models.V1ConfigMap, 'v1', 'ConfigMap'>
export type Service = Model<models.V1Service, 'v1', 'Service'>
export type ServiceAccount = Model<models.V1ServiceAccount, 'v1', 'ServiceAccount'>
export type Event = Model<models.CoreV1Event, 'v1', 'Event'>
export type Deployment = Model<models.V1Deployment, 'apps/v1', 'Deployment'>
export type Lease = Model<models.V1Lease, 'coordination.k8s.io/v1', 'Lease'>
export type CustomResourceDefinition = Model<models.V1CustomResourceDefinition, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition'>
export type MutatingWebhookConfiguration = Model<
  models.V1MutatingWebhookConfiguration,
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration'
>
export type ValidatingWebhookConfiguration = Model<
  models.V1ValidatingWebhookConfiguration,
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration'
>
export type SubjectAccessReview = Model<models.V1SubjectAccessReview, 'authorization.k8s.io/v1', 'SubjectAccessReview'>

function builtin<T extends KubernetesObject>(
  apiVersion: T['apiVersion'],
  kind: T['kind'],
  plural: string,
  namespaced = true,
): ResourceType<T> {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return resourceType<T>({ group, version, kind, plural, namespaced })
}

export const pod = builtin<Pod>('v1', 'Pod', 'pods')
export const node = builtin<Node>('v1', 'Node', 'nodes', false)
export const namespace = builtin<Namespace>('v1', 'Namespace', 'namespaces', false)
export const secret = builtin<Secret>('v1', 'Secret', 'secrets')
export const configMap = builtin<ConfigMap>('v1', 'ConfigMap', 'configmaps')
export const service = builtin<Service>('v1', 'Service', 'services')
export const serviceAccount = builtin<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts')
export const event = builtin<Event>('v1', 'Event', 'events')
export const deployment = builtin<Deployment>('apps/v1', 'Deployment', 'deployments')
export const lease = builtin<Lease>('coordination.k8s.io/v1', 'Lease', 'leases')
export const customResourceDefinition = builtin<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
)
export const mutatingWebhookConfiguration = builtin<MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  false,
)
export const validatingWebhookConfiguration = builtin<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  false,
)
export const subjectAccessReview = builtin<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
  false,
)
