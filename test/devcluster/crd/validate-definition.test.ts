import t from 'tap'
import { formatFieldError } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { customResourceDefinitions } from '../../../src/devcluster/crd/custom-resource-definitions.ts'
import { asDefinition } from '../../../src/devcluster/crd/definition.ts'
import { systemContext } from '../../../src/devcluster/crd/system-context.ts'
import { validateDefinition } from '../../../src/devcluster/crd/validate-definition.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { clusterWith } from '../../support/devcluster/cluster-view.ts'
import { widgetDefinition, widgetVersion } from '../../support/devcluster/definitions.ts'

const { strategy } = customResourceDefinitions(new FakeClock())
const defaulted = (object: JsonObject): JsonObject => strategy.default!(object)

function errorsOf(spec: JsonObject, metadata: JsonObject = {}): string[] {
  const context = systemContext(new AbortController().signal)
  const definition = strategy.prepareForCreate!(defaulted(widgetDefinition(spec, metadata)), context, clusterWith())
  return validateDefinition(asDefinition(definition)).map(formatFieldError)
}
const versions = (...changes: JsonObject[]): JsonObject => ({ versions: changes.map((change) => ({ ...widgetVersion, ...change })) })
const names = (change: JsonObject): JsonObject => ({ names: { plural: 'widgets', kind: 'Widget', ...change } })

const eight = {
  type: 'object',
  properties: Object.fromEntries([...'abcdefghi'].map((name, index) => [name, { type: ['string', 'boolean', 'integer'][index % 3]! }])),
}

t.test('a valid definition has no errors and gets its defaults', async (t) => {
  t.strictSame(errorsOf({}), [])
  const { spec } = asDefinition(defaulted(widgetDefinition()))
  t.match(spec, { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } })
})

t.test('defaulting does not change a complete definition', async (t) => {
  const complete = defaulted(widgetDefinition())
  t.equal(defaulted(complete), complete)
})

const table: [string, JsonObject, JsonObject, ...RegExp[]][] = [
  [
    'another name',
    {},
    { name: 'other.example.com' },
    /^metadata.name: Invalid value: "other.example.com": must be spec.names.plural\+"."\+spec.group$/,
  ],
  [
    'a group without a dot',
    { group: 'example' },
    { name: 'widgets.example' },
    /^spec.group: Invalid value: "example": should be a domain with at least one dot$/,
  ],
  ['no scope', { scope: '' }, {}, /^spec.scope: Required value$/],
  ['another scope', { scope: 'Other' }, {}, /^spec.scope: Unsupported value: "Other": supported values: "Cluster", "Namespaced"$/],
  ['no kind', names({ kind: '', singular: 'w', listKind: 'L' }), {}, /^spec.names.kind: Required value$/],
  [
    'a bad kind',
    names({ kind: 'My_Kind', singular: 'w', listKind: 'L' }),
    {},
    /^spec.names.kind: Invalid value: "My_Kind": may have mixed case, but should otherwise match: a DNS-1035 label/,
  ],
  [
    'kind and list kind alike',
    names({ listKind: 'Widget' }),
    {},
    /^spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same$/,
  ],
  [
    'no storage version',
    versions({ storage: false }),
    {},
    /^spec.versions: Invalid value: .*: must have exactly one version marked as storage version$/,
    /^status.storedVersions: Invalid value: null: must have at least one stored version$/,
  ],
  [
    'two storage versions',
    versions({}, { name: 'v2' }),
    {},
    /must have exactly one version marked as storage version$/,
    /^status.storedVersions: Invalid value: \["v1"\]: must have the storage version v2$/,
  ],
  ['a version twice', versions({}, { storage: false }), {}, /must contain unique version names$/],
  ['no schema', versions({ schema: {}, selectableFields: [] }), {}, /^spec.versions\[0\].schema.openAPIV3Schema: Required value$/],
  [
    'a schema that is not structural',
    versions({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } }, selectableFields: [] }),
    {},
    /^spec.validation.openAPIV3Schema.properties\[spec\].type: Required value: must not be empty for specified object fields$/,
  ],
  [
    'a scale path without a dot',
    versions({ subresources: { scale: { specReplicasPath: 'spec.a', statusReplicasPath: '.status.r' } } }),
    {},
    /^spec.subresources.scale.specReplicasPath: Invalid value: "spec.a": must be a simple json path starting with \.$/,
  ],
  [
    'a scale path elsewhere',
    versions({ subresources: { scale: { specReplicasPath: '.status.r', statusReplicasPath: '.status.r' } } }),
    {},
    /specReplicasPath: Invalid value: ".status.r": should be a json path under .spec$/,
  ],
  [
    'a column without a type',
    versions({ additionalPrinterColumns: [{ name: 'A', jsonPath: '.a' }] }),
    {},
    /^spec.additionalPrinterColumns\[0\].type: Required value: must be one of boolean,date,integer,number,string$/,
  ],
  [
    'a column with a bad path',
    versions({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'a' }] }),
    {},
    /JSONPath: Invalid value: "a": must be a simple json path starting with \.$/,
  ],
  [
    'a webhook conversion without a webhook',
    { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } },
    {},
    /^spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook$/,
  ],
  [
    'unknown fields kept everywhere',
    { preserveUnknownFields: true },
    {},
    /^spec.preserveUnknownFields: Invalid value: true: cannot set to true/,
    /^spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema$/,
  ],
  [
    'a protected group',
    { group: 'x.k8s.io' },
    { name: 'widgets.x.k8s.io' },
    /^metadata.annotations\[api-approved.kubernetes.io\]: Required value: protected groups must have approval annotation/,
  ],
]
for (const [name, spec, metadata, ...expected] of table) {
  t.test(`${name} is refused`, async (t) => {
    const errors = errorsOf(spec, metadata)
    t.equal(errors.length, expected.length)
    t.match(errors, expected)
  })
}

const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const badLabel = (path: string, value: string, mixed = ''): string => `${path}: Invalid value: ${JSON.stringify(value)}: ${mixed}${label}`
const mixedCase = 'may have mixed case, but should otherwise match: '
const simple = (path: string, value: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: must be a simple json path starting with .`
const scaled = (scale: JsonObject): JsonObject =>
  versions({ subresources: { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', ...scale } } })
const column = (change: JsonObject): JsonObject =>
  versions({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a', ...change }] })
const rooted = (schema: JsonObject): JsonObject =>
  versions({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } }, ...schema } }, selectableFields: [] })
const approval = 'metadata.annotations[api-approved.kubernetes.io]'
const inGroup = (group: string, approved?: string): readonly [JsonObject, JsonObject] => [
  { group },
  { name: `widgets.${group}`, ...(approved === undefined ? {} : { annotations: { 'api-approved.kubernetes.io': approved } }) },
]
const unapproved = `${approval}: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111`
const wrongApproval = (value: string): string =>
  `${approval}: Invalid value: "${value}": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`
const v2: JsonObject = { name: 'v2', storage: false }
const warned = (deprecationWarning: string): JsonObject => versions({ deprecated: true, deprecationWarning })

/** Invalid CustomResourceDefinitions, each with all of its errors. */
const exact: [string, JsonObject, JsonObject, ...string[]][] = [
  [
    'no plural',
    names({ plural: '' }),
    {},
    'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
    'spec.names.plural: Required value',
  ],
  ['an upper case plural', names({ plural: 'Widgets' }), { name: 'Widgets.example.com' }, badLabel('spec.names.plural', 'Widgets')],
  ['an upper case singular', names({ singular: 'Widget' }), {}, badLabel('spec.names.singular', 'Widget')],
  [
    'a kind with a dot',
    names({ kind: 'Wid.Get', singular: 'widget' }),
    {},
    badLabel('spec.names.kind', 'Wid.Get', mixedCase),
    badLabel('spec.names.listKind', 'Wid.GetList', mixedCase),
  ],
  [
    'short names and categories',
    names({ shortNames: ['ok', 'Not', ''], categories: ['all', 'a.b'] }),
    {},
    badLabel('spec.names.shortNames[1]', 'Not'),
    badLabel('spec.names.shortNames[2]', ''),
    badLabel('spec.names.categories[1]', 'a.b'),
  ],
  ['no name', {}, { name: '' }],
  ['no group', { group: '' }, { name: 'widgets.' }, 'spec.group: Required value'],
  [
    'a group in upper case',
    { group: 'Example.com' },
    { name: 'widgets.Example.com' },
    "spec.group: Invalid value: \"Example.com\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  ['the group of Kubernetes itself', ...inGroup('k8s.io'), unapproved],
  ['another of its groups', ...inGroup('a.kubernetes.io'), unapproved],
  ['an approval by word', ...inGroup('a.k8s.io', 'approved'), wrongApproval('approved')],
  ['an empty approval', ...inGroup('a.k8s.io', ''), unapproved],
  ['an approval by another protocol', ...inGroup('a.k8s.io', 'ftp://a')],
  ['an approval without a host', ...inGroup('a.k8s.io', 'https:///a'), wrongApproval('https:///a')],
  ['an approval by a path', ...inGroup('a.k8s.io', '/a'), wrongApproval('/a')],
  ['an approval by somebody without a host', ...inGroup('a.k8s.io', 'https://a@/'), wrongApproval('https://a@/')],
  ['an approval with a port of letters', ...inGroup('a.k8s.io', 'https://a:b/'), wrongApproval('https://a:b/')],
  ['a group that looks like one', ...inGroup('ak8s.io')],
  ['a group below', ...inGroup('k8s.io.example.com')],
  ['an approval by address', ...inGroup('a.k8s.io', 'https://example.com/1')],
  ['an approval by an old address', ...inGroup('a.k8s.io', 'http://example.com/1')],
  ['no approval, and why', ...inGroup('a.k8s.io', 'unapproved, a test')],
  [
    'a bad name of the first version',
    versions({ name: 'V1' }),
    {},
    badLabel('spec.version', 'V1'),
    badLabel('spec.versions[0].name', 'V1'),
  ],
  ['a bad name of another version', versions({}, { ...v2, name: 'V2' }), {}, badLabel('spec.versions[1].name', 'V2')],
  [
    'a name with two problems',
    versions({}, { ...v2, name: 'V'.repeat(64) }),
    {},
    badLabel('spec.versions[1].name', 'V'.repeat(64), 'must be no more than 63 characters,'),
  ],
  [
    'another schema in each version, and one is wrong',
    versions({}, { ...v2, schema: { openAPIV3Schema: { type: 'string' } }, selectableFields: [] }),
    {},
    'spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    'spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
  ],
  [
    'a version without a schema',
    versions({}, { ...v2, schema: {}, selectableFields: [] }),
    {},
    'spec.versions[1].schema.openAPIV3Schema: Required value',
  ],
  [
    'the same wrong schema in all versions',
    versions(
      { schema: { openAPIV3Schema: { type: 'string' } }, selectableFields: [] },
      { ...v2, schema: { openAPIV3Schema: { type: 'string' } }, selectableFields: [] },
    ),
    {},
    'spec.validation.openAPIV3Schema.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    'spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
  ],
  [
    'a warning of a version that is not deprecated',
    versions({ deprecationWarning: 'x' }),
    {},
    'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
  ],
  ['a warning of 256 characters', warned('x'.repeat(256)), {}],
  [
    'a warning of 257 characters',
    warned('x'.repeat(257)),
    {},
    `spec.versions[0].deprecationWarning: Invalid value: "${'x'.repeat(257)}": must be <= 256 characters long`,
  ],
  [
    'a warning of two lines',
    warned('a\nb'),
    {},
    String.raw`spec.versions[0].deprecationWarning: Invalid value: "a\nb": must only contain printable UTF-8 characters; non-printable character found at index 1`,
  ],
  [
    'a long warning of a version that is not deprecated',
    versions({ deprecationWarning: 'x'.repeat(257) }),
    {},
    `spec.versions[0].deprecationWarning: Invalid value: "${'x'.repeat(257)}": can only be set for deprecated versions`,
  ],
  ['a warning of 256 bytes', warned('é'.repeat(128)), {}],
  [
    'a warning of 258 bytes',
    warned('é'.repeat(129)),
    {},
    `spec.versions[0].deprecationWarning: Invalid value: "${'é'.repeat(129)}": must be <= 256 characters long`,
  ],
  ['an empty warning', warned(''), {}, 'spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
  [
    'all that a root with a status may say',
    rooted({
      description: 'x',
      title: 'x',
      required: ['spec'],
      nullable: false,
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-validations': [{ rule: 'true' }],
    }),
    {},
  ],
  [
    'a branch of a root without a status',
    { versions: [{ ...(rooted({ anyOf: [{ required: ['spec'] }] }).versions as JsonObject[])[0]!, subresources: {} }] },
    {},
  ],
  [
    'webhook conversion with unknown fields kept',
    {
      ...rooted({}),
      preserveUnknownFields: true,
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/' } } },
    },
    {},
    'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
  ],
  ['a selector in the spec', scaled({ labelSelectorPath: '.spec.s' }), {}],
  ['a selector in the status', scaled({ labelSelectorPath: '.status.s' }), {}],
  [
    'a selector elsewhere',
    scaled({ labelSelectorPath: '.metadata.s' }),
    {},
    'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.s": should be a json path under either .spec or .status',
  ],
  ['a selector without a dot', scaled({ labelSelectorPath: 'spec' }), {}, simple('spec.subresources.scale.labelSelectorPath', 'spec')],
  [
    'a status path in the spec',
    scaled({ statusReplicasPath: '.spec.r' }),
    {},
    'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.r": should be a json path under .status',
  ],
  [
    'a path to the whole spec',
    scaled({ specReplicasPath: '.spec' }),
    {},
    'spec.subresources.scale.specReplicasPath: Invalid value: ".spec": should be a json path under .spec',
  ],
  [
    'no paths of a scale',
    scaled({ specReplicasPath: '', statusReplicasPath: '' }),
    {},
    'spec.subresources.scale.specReplicasPath: Required value',
    'spec.subresources.scale.statusReplicasPath: Required value',
  ],
  [
    'a bad scale in one of the versions',
    versions({}, { ...v2, subresources: { scale: { specReplicasPath: 'x', statusReplicasPath: '.status.r' } } }),
    {},
    simple('spec.versions[1].subresources.scale.specReplicasPath', 'x'),
  ],
  ['a column without a name', column({ name: '' }), {}, 'spec.additionalPrinterColumns[0].name: Required value'],
  [
    'a column of another type',
    column({ type: 'text' }),
    {},
    'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
  ],
  [
    'a column of another format',
    column({ format: 'uuid' }),
    {},
    'spec.additionalPrinterColumns[0].format: Invalid value: "uuid": must be one of byte,date,date-time,double,float,int32,int64,password',
  ],
  ['a column without a path', column({ jsonPath: '' }), {}, 'spec.additionalPrinterColumns[0].JSONPath: Required value'],
  [
    'columns of every type and format',
    versions({
      additionalPrinterColumns: [
        ...['boolean', 'date', 'integer', 'number', 'string'].map((type) => ({ name: 'A', type, jsonPath: '.a' })),
        ...['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'].map((format) => ({
          name: 'A',
          type: 'string',
          format,
          jsonPath: '.a',
        })),
      ],
    }),
    {},
  ],
  [
    'a bad column in one of the versions',
    versions(
      {},
      {
        ...v2,
        additionalPrinterColumns: [
          { name: 'A', type: 'string', jsonPath: '.a' },
          { name: '', type: 'string', jsonPath: '.a' },
        ],
      },
    ),
    {},
    'spec.versions[1].additionalPrinterColumns[1].name: Required value',
  ],
  [
    'what is no selectable field',
    versions({
      selectableFields: ['.spec.color', '', '.spec.color', 'spec.color', '.spec', '.spec.none', '.metadata.name', '.spec.since'].map(
        (jsonPath) => ({ jsonPath }),
      ),
    }),
    {},
    'spec.selectableFields[1].jsonPath: Required value',
    'spec.selectableFields[2].jsonPath: Duplicate value: ".spec.color"',
    'spec.selectableFields[3].jsonPath: Invalid value: "spec.color": is an invalid path: expected [ or . but got: spec',
    'spec.selectableFields[4].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    'spec.selectableFields[5].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field',
    'spec.selectableFields[6].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
  ],
  [
    'eight selectable fields',
    versions({
      schema: { openAPIV3Schema: eight },
      selectableFields: Object.keys(eight.properties)
        .slice(0, 8)
        .map((name) => ({ jsonPath: `.${name}` })),
    }),
    {},
  ],
  [
    'nine selectable fields',
    versions({
      schema: { openAPIV3Schema: eight },
      selectableFields: Object.keys(eight.properties).map((name) => ({ jsonPath: `.${name}` })),
    }),
    {},
    'spec.selectableFields: Too many: 9: must have at most 8 items',
  ],
  [
    'a selectable field that one of the versions does not have',
    versions(
      {},
      { ...v2, schema: { openAPIV3Schema: { type: 'object' } }, selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.x' }] },
    ),
    {},
    'spec.versions[1].selectableFields[0].jsonPath: Invalid value: ".spec.color": is an invalid path: does not refer to a valid field',
    'spec.versions[1].selectableFields[1].jsonPath: Invalid value: ".x": is an invalid path: does not refer to a valid field',
  ],
  ['no conversion strategy', { conversion: { strategy: '' } }, {}, 'spec.conversion.strategy: Required value'],
  [
    'another conversion strategy',
    { conversion: { strategy: 'Magic' } },
    {},
    'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
  ],
  [
    'a webhook that nobody calls',
    { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/' } } } },
    {},
    'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
    'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
  ],
  [
    'a webhook that speaks no known version',
    { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v2'], clientConfig: { url: 'https://example.com/' } } } },
    {},
    'spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  ],
  [
    'a webhook of which little is known',
    { conversion: { strategy: 'Webhook' } },
    {},
    'spec.conversion.conversionReviewVersions: Required value',
    'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
  ],
  [
    'a webhook of an old version',
    {
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v2', 'v1beta1'], clientConfig: { url: 'https://example.com/' } },
      },
    },
    {},
  ],
  [
    'a webhook without an address',
    { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: {} } } },
    {},
    'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
  ],
]
t.test('every error is reported with its path', async (t) => {
  for (const [name, spec, metadata, ...errors] of exact) t.strictSame(errorsOf(spec, metadata), errors, name)
})

t.test('a character that is not printable is reported with its byte offset', async (t) => {
  const [told] = errorsOf(warned('é\u00a0'))
  t.match(told, /: must only contain printable UTF-8 characters; non-printable character found at index 2$/)
})

t.test('the root schema of a type with a status subresource is limited to a few keywords', async (t) => {
  for (const more of [
    { anyOf: [{ required: ['spec'] }] },
    { not: { required: ['x'] } },
    { maxProperties: 9 },
    { enum: [{}] },
  ] as JsonObject[])
    t.match(errorsOf(rooted(more)), [
      /^spec\.validation\.openAPIV3Schema: Invalid value: \{.*\}: only \[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations\] fields are allowed at the root of the schema if the status subresource is enabled$/,
    ])
})

t.test('an error quotes versions in the internal form of kube-apiserver', async (t) => {
  const bare = { ...widgetVersion, selectableFields: [], storage: false }
  t.equal(
    errorsOf({ versions: [bare, { ...bare, name: 'v2', deprecated: true, deprecationWarning: 'old' }] })[0],
    'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},' +
      '{"Name":"v2","Served":true,"Storage":false,"Deprecated":true,"DeprecationWarning":"old","Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
  )
})

t.test('the names and the scope of an established definition are immutable', async (t) => {
  const established = (spec: JsonObject): ReturnType<typeof asDefinition> =>
    asDefinition({
      ...defaulted(widgetDefinition(spec)),
      status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] } as unknown as JsonObject,
    })
  const errors = validateDefinition(established({ scope: 'Cluster', ...names({ kind: 'Other' }) }), established({})).map(formatFieldError)
  t.strictSame(errors, [
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Other": field is immutable',
  ])
  const fresh = (spec: JsonObject): ReturnType<typeof asDefinition> =>
    asDefinition({ ...defaulted(widgetDefinition(spec)), status: { storedVersions: ['v1'] } as unknown as JsonObject })
  t.strictSame(
    validateDefinition(fresh({ scope: 'Cluster', ...names({ kind: 'Other' }) }), fresh({})),
    [],
    'names outside of paths may change before the definition is established',
  )
  t.strictSame(validateDefinition(fresh({ group: 'other.com', ...names({ plural: 'others' }) }), fresh({})).map(formatFieldError), [
    'spec.group: Invalid value: "other.com": field is immutable',
    'spec.names.plural: Invalid value: "others": field is immutable',
  ])
  const renamed = validateDefinition(established(versions({ name: 'v2' })), established({})).map(formatFieldError)
  t.equal(renamed.length, 2)
  t.match(renamed, [
    /^status.storedVersions\[0\]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version/,
    /^status.storedVersions: Invalid value: \["v1"\]: must have the storage version v2$/,
  ])
})
