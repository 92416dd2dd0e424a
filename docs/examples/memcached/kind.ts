import { Conditions, defineKind, Type } from 'proreus'
import type { Infer } from 'proreus'

export const memcached = defineKind({
  group: 'example.com',
  kind: 'Memcached',
  versions: [
    {
      name: 'v1alpha1',
      spec: Type.Object({
        size: Type.Integer({ format: 'int32', minimum: 1, maximum: 100, default: 3, description: 'How many Pods there are.' }),
        port: Type.Integer({ format: 'int32', minimum: 1, maximum: 65535, default: 11211, description: 'The port of each Pod.' }),
      }),
      status: Type.Object({
        nodes: Type.Array(Type.String(), { description: 'Names of the Pods, sorted.' }),
        replicas: Type.Integer({ format: 'int32' }),
        readyReplicas: Type.Integer({ format: 'int32' }),
        selector: Type.String(),
        conditions: Conditions,
      }),
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
      printerColumns: [
        { name: 'Size', jsonPath: '.spec.size', type: 'integer' },
        { name: 'Ready', jsonPath: '.status.readyReplicas', type: 'integer' },
        { name: 'Available', jsonPath: '.status.conditions[?(@.type=="Available")].status' },
        { name: 'Reason', jsonPath: '.status.conditions[?(@.type=="Available")].reason' },
        { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
      ],
    },
  ],
})

export type Memcached = Infer<typeof memcached>
