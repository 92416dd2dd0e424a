/** The results of kube-apiserver 1.36 for the named cases. */
import type { Result } from './servers.ts'

/** The results without empty fields, keyed by the name of the case. The reason is omitted, because the status determines the reason. */
export const expectedResults: Readonly<Record<string, Partial<Omit<Result, 'reason'>>>> = {
  'a label key of three parts': {
    status: 422,
    problems: [
      "FieldValueInvalid metadata.labels: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ],
  },
  'owners are told without their index': {
    status: 422,
    problems: [
      'FieldValueInvalid metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'FieldValueInvalid metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'FieldValueInvalid metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'FieldValueInvalid metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ],
  },
  'two owners that control': {
    status: 422,
    problems: [
      'FieldValueInvalid metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"A","name":"a","uid":"u","controller":true},{"apiVersion":"v1","kind":"A","name":"a","uid":"v","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for A/a and A/a',
    ],
  },
  'an Event as an owner': {
    status: 422,
    problems: [
      'FieldValueInvalid metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"a","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ],
  },
  'two ways of deletion': {
    status: 422,
    problems: [
      'FieldValueInvalid metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
  },
  'a prefix that is a hyphen': {
    status: 422,
    problems: [
      "FieldValueInvalid metadata.generateName: Invalid value: \"-\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  },
  'metadata that cannot be read, in the order of the keys': {
    status: 400,
    problems: ['json: cannot unmarshal bool into Go struct field ObjectMeta.annotations of type string'],
  },
  'a time that is a number': {
    status: 400,
    problems: ['json: cannot unmarshal number into Go struct field ObjectMeta.deletionTimestamp of type string'],
  },
  'a uid that is a number': {
    status: 400,
    problems: ['json: cannot unmarshal number into Go struct field ObjectMeta.uid of type types.UID'],
  },
  'empty metadata': {
    status: 201,
    object: {
      metadata: {
        labels: {
          a: '',
        },
        name: 'a',
        namespace: 'fuzz',
      },
    },
  },
  'an embedded kind that is no text': {
    status: 400,
    problems: ['spec.kind: Invalid value: 5: must be a string'],
  },
  'an embedded kind that is too long': {
    status: 422,
    problems: [
      'FieldValueInvalid spec.kind: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": may have mixed case, but should otherwise match: must be no more than 63 characters',
    ],
  },
  'an embedded kind that is null and named': {
    status: 422,
    problems: ['FieldValueRequired spec.kind: Required value'],
  },
  'embedded metadata that is null': {
    status: 201,
    object: {
      metadata: {
        name: 'a',
        namespace: 'fuzz',
      },
      spec: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {},
      },
    },
  },
  'embedded metadata that cannot be read': {
    status: 400,
    problems: [
      'spec.metadata: Invalid value: {"labels":{"a":5}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
  },
  'embedded metadata that is not known': {
    status: 201,
    warnings: ['unknown field "spec[a].metadata.other"'],
    object: {
      metadata: {
        name: 'a',
        namespace: 'fuzz',
      },
      spec: {
        a: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name: 'a',
          },
        },
      },
    },
  },
  'an embedded resource in a field without a name': {
    status: 422,
    problems: ['FieldValueRequired spec[].apiVersion: Required value', 'FieldValueRequired spec[].kind: Required value'],
  },
  'characters that are not printed': {
    status: 422,
    problems: [
      'FieldValueInvalid spec: Invalid value: "\\"\\\\\\n\\x00\\x7f\\u0085\\u00a0\\u2028\\ufeff\\U000e0001\u00e9\ud83d\udc4d": spec in body should match \'^$\'',
    ],
  },
  'characters that are not printed, in a list': {
    status: 422,
    problems: ['FieldValueNotSupported spec: Unsupported value: ["\\u003c\\u0026\\u003e\\u2028\\u0001"]: supported values: "[]"'],
  },
  'int-or-string with a format': {
    status: 422,
    problems: ['FieldValueTypeInvalid spec: Invalid value: "x": spec in body must be of type ipv4: "x"'],
  },
  'a quantity is no format': {
    status: 422,
    problems: ['FieldValueInvalid <nil>: Invalid value: "": "spec" must not validate the schema (not)'],
  },
  'a bound beyond 64 bits': {
    status: 422,
    problems: ['FieldValueInvalid spec: Invalid value: 1: spec in body should be less than or equal to -9223372036854775808'],
  },
  'a multiple of nothing': {
    status: 422,
    problems: ['FieldValueInvalid spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: 0'],
  },
  'a multiple of less than nothing': {
    status: 422,
    problems: ['FieldValueInvalid spec: Invalid value: -1: factor MultipleOf declared for spec must be positive: -1'],
  },
  'a length below zero': {
    status: 422,
    problems: ['FieldValueTooMany spec: Too many: 0: has too many items'],
  },
  'no fields at all': {
    status: 422,
    problems: ['FieldValueInvalid spec: Invalid value: "a": spec.a in body is a forbidden property'],
  },
  'an update leaves what is wrong as it was': {
    status: 200,
    object: {
      metadata: {
        name: 'a-1',
        namespace: 'fuzz',
      },
      spec: {
        a: 'long',
        b: 'ok',
      },
    },
  },
  'an update changes what is wrong': {
    status: 422,
    problems: ['FieldValueTooLong spec.a: Too long: may not be more than 2 bytes'],
  },
  'an update moves what is wrong': {
    status: 422,
    problems: ['FieldValueTooLong spec.b: Too long: may not be more than 2 bytes'],
  },
  'an update leaves a wrong item of a map': {
    status: 200,
    object: {
      metadata: {
        name: 'a-4',
        namespace: 'fuzz',
      },
      spec: [
        {
          key: 'b',
          value: 'ok',
        },
        {
          key: 'a',
          value: 'long',
        },
      ],
    },
  },
  'an update leaves a wrong item of a list': {
    status: 422,
    problems: ['FieldValueTooLong spec[0]: Too long: may not be more than 2 bytes'],
  },
  'an update leaves a whole list': {
    status: 200,
    object: {
      metadata: {
        name: 'a-6',
        namespace: 'fuzz',
      },
      spec: {
        a: ['long'],
        b: 'x',
      },
    },
  },
  'an update sorts a map': {
    status: 200,
    object: {
      metadata: {
        name: 'a-7',
        namespace: 'fuzz',
      },
      spec: [
        {
          key: 'b',
        },
        {
          key: 'a',
        },
      ],
    },
  },
  'an update leaves a wrong object as it was': {
    status: 200,
    object: {
      metadata: {
        name: 'a-8',
        namespace: 'fuzz',
      },
      spec: {
        a: 'x',
      },
    },
  },
  'what is not named is never as it was': {
    status: 422,
    problems: ['FieldValueRequired spec.b: Required value'],
  },
  'a branch is not as it was where its object is not': {
    status: 422,
    problems: [
      'FieldValueInvalid <nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'FieldValueTooLong spec.a: Too long: may not be more than 2 bytes',
    ],
  },
  'an update leaves a duplicate': {
    status: 200,
    object: {
      metadata: {
        name: 'a-11',
        namespace: 'fuzz',
      },
      spec: {
        a: ['x', 'x'],
        b: 'x',
      },
    },
  },
  'an update leaves a wrong embedded resource': {
    status: 422,
    problems: ['FieldValueRequired spec.apiVersion: Required value'],
  },
  'what the schema no longer names is gone before it is compared': {
    status: 200,
    object: {
      metadata: {
        name: 'a-13',
        namespace: 'fuzz',
      },
      spec: {},
    },
  },
  'an update does not judge names': {
    status: 200,
    object: {
      metadata: {
        generateName: 'N',
        name: 'a-14',
        namespace: 'fuzz',
      },
      spec: {},
    },
  },
}
