import t from 'tap'
import {
  difference,
  emptySet,
  fromFieldsV1,
  intersection,
  isEmptySet,
  leafSet,
  pathsOf,
  toFieldsV1,
  union,
} from '../../../src/devcluster/apply/field-set.ts'

const fields = {
  'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
  'f:spec': {
    'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {} } } } },
    'f:tags': { 'v:"x"': {} },
  },
}

t.test('a field set is decoded from FieldsV1 and encoded again', async (t) => {
  t.strictSame(toFieldsV1(fromFieldsV1(fields)), {
    ...fields,
    // The field set contains the port, but no fields of the port. The port is therefore encoded as an empty object, without the `.` of the
    // original FieldsV1.
    'f:spec': {
      ...fields['f:spec'],
      'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} } } },
    },
  })
  t.ok(isEmptySet(fromFieldsV1({})))
  t.strictSame(toFieldsV1(fromFieldsV1({ 'k:no json': {}, 'x:y': {}, 'f:ok': {} })), { 'f:ok': {} })
})

t.test('a path is formatted as in conflicts', async (t) => {
  t.strictSame(pathsOf(fromFieldsV1(fields)), [
    '.metadata.labels',
    '.metadata.labels.app',
    '.spec.containers[name="a"]',
    '.spec.containers[name="a"].image',
    '.spec.containers[name="a"].ports[containerPort=80,protocol="TCP"]',
    '.spec.tags[="x"]',
  ])
})

t.test('a field set has union, difference and intersection', async (t) => {
  const a = fromFieldsV1({ 'f:x': {}, 'f:y': { '.': {}, 'f:z': {} } })
  const b = fromFieldsV1({ 'f:y': { 'f:z': {} }, 'f:w': {} })
  t.strictSame(toFieldsV1(union(a, b)), { 'f:w': {}, 'f:x': {}, 'f:y': { '.': {}, 'f:z': {} } })
  t.strictSame(toFieldsV1(difference(a, b)), { 'f:x': {}, 'f:y': {} })
  t.strictSame(toFieldsV1(intersection(a, b)), { 'f:y': { 'f:z': {} } })
  t.strictSame(toFieldsV1(union(b, a)), { 'f:w': {}, 'f:x': {}, 'f:y': { '.': {}, 'f:z': {} } })
  t.strictSame(toFieldsV1(difference(b, a)), { 'f:w': {} })
  t.strictSame(toFieldsV1(intersection(b, a)), { 'f:y': { 'f:z': {} } })
  t.strictSame(toFieldsV1(intersection(a, a)), toFieldsV1(a))
  t.ok(isEmptySet(difference(a, a)))
  t.ok(isEmptySet(intersection(a, emptySet)))
  t.strictSame(pathsOf(leafSet), [], 'the root has no path')
})
