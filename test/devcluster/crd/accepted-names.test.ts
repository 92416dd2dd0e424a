import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { acceptNames } from '../../../src/devcluster/crd/accepted-names.ts'
import type { Definition } from '../../../src/devcluster/crd/definition.ts'
import { asDefinition } from '../../../src/devcluster/crd/definition.ts'

const all = { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList', shortNames: ['x', 'y'], categories: ['all'] }
const none = { plural: '', kind: '' }

function definition(name: string, names: JsonObject, acceptedNames?: JsonObject, group = 'example.com'): Definition {
  return asDefinition({ metadata: { name }, spec: { group, names }, ...(acceptedNames && { status: { acceptedNames } }) })
}

t.test('unused names are accepted', async (t) => {
  t.strictSame(acceptNames(definition('a', all), []), { names: all, conflict: undefined })
  t.strictSame(
    acceptNames(definition('a', all, none), [definition('a', all, all), definition('b', all), definition('c', all, all, 'other.com')]),
    {
      names: all,
      conflict: undefined,
    },
  )
})

t.test('a name of another definition of the group is not accepted, and accepted names are kept', async (t) => {
  const cases: readonly (readonly [other: JsonObject, names: JsonObject, reason: string, message: string])[] = [
    [{ plural: 'as' }, { ...all, plural: '' }, 'PluralConflict', '"as" is already in use'],
    [{ plural: 'a' }, { ...all, singular: undefined }, 'SingularConflict', '"a" is already in use'],
    [{ singular: 'x' }, { ...all, shortNames: undefined }, 'ShortNamesConflict', '"x" is already in use'],
    [{ shortNames: ['y', 'x'] }, { ...all, shortNames: undefined }, 'ShortNamesConflict', '["x" is already in use, "y" is already in use]'],
    [{ kind: 'A' }, { ...all, kind: '' }, 'KindConflict', '"A" is already in use'],
    [{ listKind: 'A' }, { ...all, kind: '' }, 'KindConflict', '"A" is already in use'],
    [{ kind: 'AList' }, { ...all, listKind: undefined }, 'ListKindConflict', '"AList" is already in use'],
    [{ plural: 'as', listKind: 'AList' }, { ...all, plural: '', listKind: undefined }, 'ListKindConflict', '"AList" is already in use'],
  ]
  for (const [other, names, reason, message] of cases) {
    const found = acceptNames(definition('a', all), [definition('b', {}, { ...none, ...other })])
    t.strictSame(found.conflict, { reason, message })
    t.strictSame(JSON.parse(JSON.stringify(found.names)), JSON.parse(JSON.stringify(names)))
  }
  t.equal(
    acceptNames(definition('a', all), [definition('b', {}, { ...none, categories: ['all'] })]).conflict,
    undefined,
    'categories may be shared',
  )
  t.equal(acceptNames(definition('a', all), [definition('b', {}, { ...none, kind: 'as', plural: 'A' })]).conflict, undefined)
})

t.test('a definition keeps an accepted name that another one has as well', async (t) => {
  const others = [definition('b', {}, all)]
  t.strictSame(acceptNames(definition('a', all, all), others), { names: all, conflict: undefined })
  t.strictSame(acceptNames(definition('a', { ...all, shortNames: ['x', 'y'] }, { ...all, shortNames: ['x'] }), others), {
    names: { ...all, shortNames: ['x'] },
    conflict: { reason: 'ShortNamesConflict', message: '"y" is already in use' },
  })
})

t.test('a name that is removed from the spec is no longer accepted', async (t) => {
  t.strictSame(acceptNames(definition('a', { plural: 'as', kind: 'B' }, all), []).names, { plural: 'as', kind: 'B' })
  const names = { ...all }
  t.strictSame(acceptNames(definition('a', { ...all, categories: ['all', 'some'] }, names), []).names, {
    ...all,
    categories: ['all', 'some'],
  })
})
