/** Tests of the errors and warnings of the API server for invalid CustomResourceDefinitions. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { definition, definitions, group, invalid, namespace, object, ordered, string } from '../support/conformance/definitions.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const sound = object({ spec: object({ a: string }) })
const inSpec = (schema: JsonValue): JsonObject => object({ spec: schema as JsonObject })
const at = 'spec.validation.openAPIV3Schema'
const label = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`
const items = { type: 'array', items: object({ a: string }) }
const types = 'must be one of boolean,date,integer,number,string'

/** Invalid schemas, each with its errors. */
const wrongSchemas: readonly (readonly [JsonObject, ...string[]])[] = [
  [{}, `${at}.type: Required value: must not be empty at the root`],
  [{ type: 'string' }, `${at}.type: Invalid value: "string": must be object at the root`],
  [inSpec({}), `${at}.properties[spec].type: Required value: must not be empty for specified object fields`],
  [inSpec({ type: 'array' }), `${at}.properties[spec].items: Required value: must be specified`],
  [
    inSpec({ type: 'nonsense' }),
    `${at}.properties[spec].type: Unsupported value: "nonsense": supported values: "array", "boolean", "integer", "number", "object", "string"`,
  ],
  [inSpec({ type: 'string', default: 1 }), `${at}.properties[spec].default: Invalid value: "integer":  in body must be of type string: "integer"`], // prettier-ignore
  [
    object({ metadata: object({ labels: { type: 'object' } }) }),
    `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
  ],
  // These keywords are forbidden in the schema of `metadata`, even if their value is an empty list.
  ...[{ required: [] }, { 'x-kubernetes-list-map-keys': [] }, { 'x-kubernetes-validations': [] }].map(
    (empty): readonly [JsonObject, string] => [
      object({ metadata: { type: 'object', ...empty } }),
      `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ),
  [
    inSpec({ ...items, 'x-kubernetes-list-type': 'map' }),
    `${at}.properties[spec].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
  ],
  [
    inSpec({ ...items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['b'] }),
    `${at}.properties[spec].x-kubernetes-list-map-keys: Invalid value: ["b"]: entries must all be names of item properties`,
  ],
  [
    inSpec({ ...items, 'x-kubernetes-list-type': 'set' }),
    `${at}.properties[spec].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
  ],
  [
    inSpec({ type: 'array', items: string, uniqueItems: true }),
    `${at}.properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
  ],
  [
    inSpec({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    `${at}.properties[spec].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
  ],
  [
    inSpec({ type: 'object', properties: { a: string }, additionalProperties: string }),
    `${at}.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
  ],
  [
    inSpec({ type: 'string', pattern: '(' }),
    `${at}.properties[spec].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
  ],
]

const longName = 'V'.repeat(64)

/** Versions that are invalid for reasons other than their schema, each with its errors. */
const wrongVersions: readonly (readonly [JsonObject, ...string[]])[] = [
  [
    { name: longName },
    ...['spec.version', 'spec.versions[0].name'].map(
      (path) => `${path}: Invalid value: "${longName}": must be no more than 63 characters,${label}`,
    ),
  ],
  [{ name: 'V1' }, `spec.version: Invalid value: "V1": ${label}`, `spec.versions[0].name: Invalid value: "V1": ${label}`],
  [{ deprecationWarning: 'x' }, 'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
  [
    { deprecated: true, deprecationWarning: 'a\nb' },
    'spec.versions[0].deprecationWarning: Invalid value: "a\\nb": must only contain printable UTF-8 characters; non-printable character found at index 1',
  ],
  [
    { subresources: { scale: { specReplicasPath: 'spec.a', statusReplicasPath: '.spec.a', labelSelectorPath: '.metadata.a' } } },
    'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.a": should be a json path under either .spec or .status',
    'spec.subresources.scale.specReplicasPath: Invalid value: "spec.a": must be a simple json path starting with .',
    'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.a": should be a json path under .status',
  ],
  [
    {
      additionalPrinterColumns: [
        { name: '', jsonPath: 'x' },
        { name: 'Y', type: 'nonsense', jsonPath: '.x', format: 'nonsense' },
      ],
    },
    'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
    'spec.additionalPrinterColumns[0].name: Required value',
    `spec.additionalPrinterColumns[0].type: Required value: ${types}`,
    'spec.additionalPrinterColumns[1].format: Invalid value: "nonsense": must be one of byte,date,date-time,double,float,int32,int64,password',
    `spec.additionalPrinterColumns[1].type: Invalid value: "nonsense": ${types}`,
  ],
  [
    { selectableFields: ['.spec.b', 'spec.a', '.spec.a', '.spec.a', '.spec', '.metadata.name', ''].map((jsonPath) => ({ jsonPath })) },
    'spec.selectableFields[0].jsonPath: Invalid value: ".spec.b": is an invalid path: does not refer to a valid field',
    'spec.selectableFields[1].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
    'spec.selectableFields[3].jsonPath: Duplicate value: ".spec.a"',
    'spec.selectableFields[4].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    'spec.selectableFields[5].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
    'spec.selectableFields[6].jsonPath: Required value',
  ],
]

/** CustomResourceDefinition specs that are invalid for reasons other than their versions, each with its errors. */
const wrongSpecs: readonly (readonly [JsonObject, ...string[]])[] = [
  [{ scope: 'Planet' }, 'spec.scope: Unsupported value: "Planet": supported values: "Cluster", "Namespaced"'],
  [
    { preserveUnknownFields: true },
    'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  ],
  [
    { conversion: { strategy: 'Nonsense' } },
    'spec.conversion.strategy: Unsupported value: "Nonsense": supported values: "None", "Webhook"',
  ],
  [
    { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } },
    'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
  ],
  [
    { names: { plural: 'wrongs', kind: 'x y', singular: 'S', shortNames: ['X!'], listKind: 'WrongList' } },
    `spec.names.kind: Invalid value: "x y": may have mixed case, but should otherwise match: ${label}`,
    `spec.names.shortNames[0]: Invalid value: "X!": ${label}`,
    `spec.names.singular: Invalid value: "S": ${label}`,
  ],
  [{ names: { plural: 'wrongs', kind: 'Wrong', listKind: 'Wrong' } }, 'spec.names.listKind: Invalid value: "Wrong": kind and listKind may not be the same'], // prettier-ignore
  [
    { names: { plural: 'others', kind: 'Wrong' } },
    `metadata.name: Invalid value: "wrongs.${group}": must be spec.names.plural+"."+spec.group`,
  ],
  [
    { versions: [] },
    'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
    'status.storedVersions: Invalid value: null: must have at least one stored version',
  ],
]

t.test('wrong CustomResourceDefinitions', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, controlPlane.connection)

  t.test('are refused with their errors', async (t) => {
    const bodies = [
      ...wrongSchemas.map(([schema, ...causes]) => ({ body: definition('wrongs', 'Wrong', schema), causes })),
      ...wrongVersions.map(([version, ...causes]) => ({ body: definition('wrongs', 'Wrong', sound, version), causes })),
      ...wrongSpecs.map(([spec, ...causes]) => ({ body: definition('wrongs', 'Wrong', sound, {}, spec), causes })),
    ]
    for (const { body, causes } of bodies) {
      const answer = ordered(await api('POST', `${definitions}?dryRun=All`, { body }))
      t.strictSame(answer, invalid('CustomResourceDefinition', `wrongs.${group}`, causes, 'apiextensions.k8s.io'))
    }
  })

  t.test('cause warnings for unknown formats and fields', async (t) => {
    const create = (schema: JsonObject, query = '') => api('POST', `${definitions}?dryRun=All${query}`, { body: definition('warns', 'Warn', inSpec(schema)) }) // prettier-ignore
    t.strictSame((await create({ type: 'string', format: 'nonsense' })).warnings, ['unrecognized format "nonsense"'])
    const path = 'spec.versions[0].schema.openAPIV3Schema.properties.spec.nonsense'
    const { warnings, body } = await create({ type: 'string', nonsense: 1 })
    t.strictSame(warnings, [`unknown field "${path}"`])
    t.notMatch(JSON.stringify(body), '"nonsense"')
    t.equal(
      (await create({ type: 'string', nonsense: 1 }, '&fieldValidation=Strict')).body.message,
      `CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: strict decoding error: unknown field "${path}"`,
    )
    t.equal(
      (await create({ type: 'number', minimum: 'x' })).body.message,
      'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.minimum of type float64',
    )
  })
})
