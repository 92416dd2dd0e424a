/** The kind MyPod, whose spec contains the spec of a Pod. */
import { Conditions, defineKind, Type } from 'proreus'
import type { Infer } from 'proreus'

/**
 * The schema of a container in the CRD. The API server enforces this schema even without the webhook. The schema has only these fields,
 * because the full schema of a Pod spec would make the CRD too large for `kubectl apply`. The webhook validates the complete Pod spec.
 */
const container = Type.Object(
  {
    name: Type.String({ description: 'Name of the container, unique within the Pod.' }),
    image: Type.String({ minLength: 1, description: 'Container image.' }),
  },
  { preserveUnknownFields: true },
)

/**
 * Maximum number of labels, and of annotations. The limit is far above practical use, and low enough for the webhook to validate each
 * entry.
 */
const maxEntries = 1000

export const mypod = defineKind({
  group: 'harryyann.github.io',
  kind: 'MyPod',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        podAnnotations: Type.Optional(Type.Record(Type.String(), { maxProperties: maxEntries, description: 'Annotations of the Pod.' })),
        podLabels: Type.Optional(
          Type.Record(Type.String(), {
            maxProperties: maxEntries,
            description: 'Labels of the Pod. The key "creator" is the operator\'s own.',
          }),
        ),
        podSpec: Type.Builtin('PodSpec', {
          description: 'Spec of the Pod, as in core/v1.',
          required: ['containers'],
          properties: {
            containers: Type.Array(container, {
              minItems: 1,
              listType: 'map',
              listMapKeys: ['name'],
              description: 'Containers of the Pod.',
            }),
          },
        }),
      }),
      status: Type.Object({
        podPhase: Type.Optional(Type.String({ description: 'Phase of the Pod.' })),
        podIp: Type.Optional(Type.String({ description: 'IP address of the Pod.' })),
        nodeIp: Type.Optional(Type.String({ description: 'IP address of the node that the Pod runs on.' })),
        createdTimestamp: Type.Optional(Type.Integer({ format: 'int64', description: 'When the Pod was created, in Unix seconds.' })),
        observedGeneration: Type.Optional(Type.Integer({ format: 'int64', description: 'The generation that this status is about.' })),
        conditions: Type.Optional(Conditions),
      }),
      printerColumns: [
        { name: 'Phase', jsonPath: '.status.podPhase' },
        { name: 'PodIp', jsonPath: '.status.podIp' },
        { name: 'NodeIp', jsonPath: '.status.nodeIp', priority: 1 },
        { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
      ],
    },
  ],
})

export type MyPod = Infer<typeof mypod>
