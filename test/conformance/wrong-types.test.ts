/** Tests of request bodies in which fields have a wrong JSON type, with the messages of Go's decoder. */
import t from 'tap'
import type { Status } from '../../src/api/status.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const paths = {
  Service: '/api/v1/namespaces/wrong/services',
  Pod: '/api/v1/namespaces/wrong/pods',
  Deployment: '/apis/apps/v1/namespaces/wrong/deployments',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
}

const intoField = (value: string, field: string, type: string): string =>
  `json: cannot unmarshal ${value} into Go struct field ${field} of type ${type}`
const noTime = 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'
const noQuantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** The cases: a kind, the JSON of an object, and the end of the error message. */
const cases: readonly (readonly [keyof typeof paths, string, string])[] = [
  ['Service', '{"spec":{"ports":[{"targetPort":true}]}}', intoField('bool', 'ServicePort.spec.ports.targetPort', 'int32')],
  ['Service', '{"spec":{"ports":[{"targetPort":[]}]}}', intoField('array', 'ServicePort.spec.ports.targetPort', 'int32')],
  ['Service', '{"spec":{"ports":[{"targetPort":1.5}]}}', intoField('number 1.5', 'ServicePort.spec.ports.targetPort', 'int32')],
  [
    'Service',
    '{"spec":{"ports":[{"targetPort":4294967297}]}}',
    intoField('number 4294967297', 'ServicePort.spec.ports.targetPort', 'int32'),
  ],
  // Usually, the first error is reported.
  ['Service', '{"spec":{"externalName":1,"clusterIP":true}}', intoField('number', 'ServiceSpec.spec.externalName', 'string')],
  // The error of a type with the method `UnmarshalJSON` takes precedence, because the decoder stops at such an error.
  ['Service', '{"spec":{"externalName":1,"ports":[{"targetPort":true}]}}', intoField('bool', 'ServicePort.spec.ports.targetPort', 'int32')],
  ['Service', '{"spec":{"externalName":1},"metadata":{"creationTimestamp":"x"}}', noTime],
  [
    'Service',
    '{"spec":{"externalName":1},"metadata":{"creationTimestamp":7}}',
    intoField('number', 'ObjectMeta.metadata.creationTimestamp', 'string'),
  ],
  ['Pod', '{"spec":{"hostname":1,"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}', noQuantity],
  [
    'Pod',
    '{"spec":{"containers":[{"name":"a"},{"name":1,"image":{}}],"hostname":true}}',
    intoField('number', 'Container.spec.containers.name', 'string'),
  ],
  [
    'Deployment',
    '{"spec":{"replicas":"x","strategy":{"rollingUpdate":{"maxSurge":{}}}}}',
    intoField('object', 'RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge', 'int32'),
  ],
  [
    'CustomResourceDefinition',
    '{"spec":{"group":9007199254740993}}',
    intoField('number', 'CustomResourceDefinitionSpec.spec.group', 'string'),
  ],
  [
    'CustomResourceDefinition',
    '{"spec":{"group":1,"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":{"type":2}}}}]}}',
    intoField('number', 'JSONSchemaProps.spec.versions.schema.openAPIV3Schema.additionalProperties.type', 'string'),
  ],
  [
    'CustomResourceDefinition',
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"properties":{"a":{"additionalProperties":{"externalDocs":{"url":2}}}}}}}]}}',
    intoField('number', 'JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.additionalProperties.externalDocs.url', 'string'),
  ],
]

t.test('a field with a wrong JSON type', async (t) => {
  const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: ['wrong'] })
  const api = apiOf(t, connection)
  for (const [kind, body, message] of cases) {
    const answer = await api('POST', paths[kind], { body })
    const expected = `${kind} in version "v1" cannot be handled as a ${kind}: ${message}`
    t.strictSame([answer.status, (answer.body as unknown as Status).message], [400, expected], body)
  }
  const service = { metadata: { name: 'patched' }, spec: { ports: [{ port: 80 }] } }
  t.equal((await api('POST', paths.Service, { body: service })).status, 201)
  for (const [patch, value] of [
    [{ spec: { ports: [{ port: 80, targetPort: true }] } }, 'bool into Go value of type int32'],
    [{ metadata: { creationTimestamp: 7 } }, 'number into Go value of type string'],
  ] as const) {
    const answer = await api('PATCH', `${paths.Service}/patched`, { body: patch, contentType: 'application/strategic-merge-patch+json' })
    t.match((answer.body as unknown as Status).message, `json: cannot unmarshal ${value}`, JSON.stringify(patch))
  }
})
