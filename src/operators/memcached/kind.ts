/**
 * The kind Memcached. One guide to operator-sdk declares the kind in one API group, and a second guide in another. This module declares the
 * kind in both groups.
 */
import { Conditions, defineKind, Type } from 'proreus'
import type { Infer } from 'proreus'

/** Maximum number of Pods of one Memcached. */
const maxSize = 100

/**
 * Returns the kind Memcached in an API group. Both groups of this file use this function. Their kinds therefore have the same TypeScript
 * type, and one reconciler can reconcile the objects of both groups.
 */
function memcachedKind(group: string) {
  return defineKind({
    group,
    kind: 'Memcached',
    versions: [
      {
        name: 'v1alpha1',
        spec: Type.Object({
          size: Type.Integer({ format: 'int32', minimum: 1, maximum: maxSize, default: 3, description: 'Number of Pods.' }),
          containerPort: Type.Integer({
            format: 'int32',
            minimum: 1,
            maximum: 65_535,
            default: 11_211,
            description: 'The port on which each memcached listens.',
          }),
        }),
        status: Type.Object({
          nodes: Type.Array(Type.String(), { description: 'Names of the Pods, sorted. Pods that are being deleted are left out.' }),
          replicas: Type.Integer({ format: 'int32', description: 'Number of Pods, for the subresource scale.' }),
          readyReplicas: Type.Integer({ format: 'int32', description: 'Number of Pods that are ready.' }),
          selector: Type.String({ description: 'The label selector of the Pods, for the subresource scale.' }),
          observedGeneration: Type.Integer({ format: 'int64', description: 'The generation that this status is about.' }),
          conditions: Conditions,
        }),
        scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
        printerColumns: [
          { name: 'Size', jsonPath: '.spec.size', type: 'integer' },
          { name: 'Ready', jsonPath: '.status.readyReplicas', type: 'integer' },
          { name: 'Available', jsonPath: '.status.conditions[?(@.type=="Available")].status' },
          { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
        ],
      },
    ],
  })
}

export const memcached = memcachedKind('cache.example.com')
/** The kind Memcached in the API group of the second guide to operator-sdk. */
export const memcachedOfLimingnihao = memcachedKind('cache.limingnihao.com')

export type MemcachedKind = typeof memcached
export type Memcached = Infer<typeof memcached>
