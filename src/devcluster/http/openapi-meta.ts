/** OpenAPI schemas of `meta.k8s.io/v1`, which the document of every group version contains. */
import type { JsonObject } from '../../api/json.ts'
import { deepFreeze } from '../../api/json.ts'

export const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1'

function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${metaPrefix}.${name}` }
}

function string(description: string): JsonObject {
  return { type: 'string', description }
}

function integer(description: string): JsonObject {
  return { type: 'integer', format: 'int64', description }
}

function boolean(description: string): JsonObject {
  return { type: 'boolean', description }
}

function time(description: string): JsonObject {
  return { description, allOf: [ref('Time')] }
}

function strings(description: string, extensions: JsonObject = {}): JsonObject {
  return { type: 'array', description, items: { type: 'string' }, ...extensions }
}

function map(description: string): JsonObject {
  return { type: 'object', description, additionalProperties: { type: 'string' } }
}

const schemas: Record<string, JsonObject> = {
  ObjectMeta: {
    type: 'object',
    description: 'ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create.',
    properties: {
      annotations: map(
        'Annotations is an unstructured key value map stored with a resource that may be set by external tools to store and retrieve arbitrary metadata. They are not queryable.',
      ),
      creationTimestamp: time('CreationTimestamp is the time when this object was created on the server. Read-only.'),
      deletionGracePeriodSeconds: integer(
        'Number of seconds allowed for this object to gracefully terminate before it will be removed from the system. Read-only.',
      ),
      deletionTimestamp: time(
        'DeletionTimestamp is the time at which this resource will be deleted. Set by the server when a graceful deletion is requested. Read-only.',
      ),
      finalizers: strings(
        'Must be empty before the object is deleted from the registry. Each entry is an identifier for the responsible component that will remove the entry from the list.',
        {
          'x-kubernetes-list-type': 'set',
          'x-kubernetes-patch-strategy': 'merge',
        },
      ),
      generateName: string(
        'GenerateName is an optional prefix, used by the server, to generate a unique name ONLY IF the Name field has not been provided.',
      ),
      generation: integer('A sequence number representing a specific generation of the desired state. Read-only.'),
      labels: map('Map of string keys and values that can be used to organize and categorize (scope and select) objects.'),
      managedFields: {
        type: 'array',
        description: 'Maps workflow IDs to the set of fields that are managed by that workflow.',
        items: ref('ManagedFieldsEntry'),
        'x-kubernetes-list-type': 'atomic',
      },
      name: string('Name must be unique within a namespace. Is required when creating resources. Cannot be updated.'),
      namespace: string('Namespace defines the space within which each name must be unique. Cannot be updated.'),
      ownerReferences: {
        type: 'array',
        description:
          'List of objects depended by this object. If ALL objects in the list have been deleted, this object will be garbage collected.',
        items: ref('OwnerReference'),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      },
      resourceVersion: string(
        'An opaque value that represents the internal version of this object that can be used by clients to determine when objects have changed. Read-only.',
      ),
      selfLink: string('Deprecated: a legacy field that the system no longer fills in.'),
      uid: string('UID is the unique in time and space value for this object. Read-only.'),
    },
  },
  ListMeta: {
    type: 'object',
    description: 'ListMeta describes metadata that synthetic resources must have, including lists.',
    properties: {
      continue: string('Set if the user set a limit on the number of items returned: the token to fetch the next ones.'),
      remainingItemCount: integer('The number of subsequent items in the list which are not included in this list response.'),
      resourceVersion: string("The server's internal version of the list, for a watch that begins where the list ends. Read-only."),
    },
  },
  OwnerReference: {
    type: 'object',
    description:
      'OwnerReference contains enough information to let you identify an owning object, which must be in the same namespace or cluster-scoped.',
    required: ['apiVersion', 'kind', 'name', 'uid'],
    properties: {
      apiVersion: string('API version of the referent.'),
      blockOwnerDeletion: boolean('If true, the owner cannot be deleted in the foreground until this reference is removed.'),
      controller: boolean('If true, this reference points to the managing controller.'),
      kind: string('Kind of the referent.'),
      name: string('Name of the referent.'),
      uid: string('UID of the referent.'),
    },
    'x-kubernetes-map-type': 'atomic',
  },
  ManagedFieldsEntry: {
    type: 'object',
    description: 'ManagedFieldsEntry is a workflow-id, a FieldSet and the group version of the resource that the fieldset applies to.',
    properties: {
      apiVersion: string('The version of this resource that this field set applies to.'),
      fieldsType: string('The discriminator for the fields format: FieldsV1.'),
      fieldsV1: { description: 'The first JSON version format as described in the FieldsV1 type.', allOf: [ref('FieldsV1')] },
      manager: string('An identifier of the workflow managing these fields.'),
      operation: string('The type of operation which led to this entry: Apply or Update.'),
      subresource: string('The name of the subresource used to update that object, or empty string for the object itself.'),
      time: time('When the entry was last changed.'),
    },
  },
  FieldsV1: { type: 'object', description: 'A set of fields, as a trie of their names.' },
  Time: { type: 'string', format: 'date-time', description: 'A time in the format of RFC 3339.' },
  DeleteOptions: {
    type: 'object',
    description: 'DeleteOptions may be provided when deleting an API object.',
    properties: {
      apiVersion: string('meta.k8s.io/v1'),
      dryRun: strings('When present, indicates that modifications should not be persisted. The only valid value is All.'),
      gracePeriodSeconds: integer('The duration in seconds before the object should be deleted. Zero means delete immediately.'),
      kind: string('DeleteOptions'),
      preconditions: {
        type: 'object',
        description: 'Must be fulfilled before a deletion is carried out.',
        properties: {
          resourceVersion: string('The resourceVersion that the object must have.'),
          uid: string('The UID that the object must have.'),
        },
      },
      propagationPolicy: string('Whether and how garbage collection will be performed: Orphan, Background or Foreground.'),
    },
  },
  Patch: { type: 'object', description: 'A patch, in the format of the content type.' },
  Status: {
    type: 'object',
    description: 'Status is a return value for calls that do not return other objects.',
    properties: {
      apiVersion: string('v1'),
      code: { ...integer('The HTTP status code.'), format: 'int32' },
      details: { type: 'object', description: 'Extended data of the reason: the object, and the causes by field.' },
      kind: string('Status'),
      message: string('A human-readable description of the status.'),
      metadata: ref('ListMeta'),
      reason: string('A machine-readable description of why the operation failed.'),
      status: string('Success or Failure.'),
    },
    'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }],
  },
}

/** The schemas, keyed by full component name. */
export const metaSchemas: JsonObject = deepFreeze(
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${metaPrefix}.${name}`, schema])),
)
