import t from 'tap'
import { acrossVersions } from '../../../src/devcluster/conversion-webhooks/across-versions.ts'
import type { Converter } from '../../../src/devcluster/rest/converter.ts'

const object = { apiVersion: 'ex.com/v1', kind: 'Foo', spec: { size: 1 } }

t.test('a computation receives each conversion that it requires, and each runs once', async (t) => {
  const asked: string[] = []
  const converter: Converter = {
    convert: (given, apiVersion) => {
      asked.push(apiVersion)
      return Promise.resolve({ ...given, apiVersion })
    },
  }
  const versions = ['ex.com/v1', 'ex.com/v2', 'ex.com/v3', 'ex.com/v2']
  const found = await acrossVersions(converter, (view) => versions.map((version) => view(object, version).apiVersion))
  t.strictSame(found, versions)
  t.strictSame(asked, ['ex.com/v2', 'ex.com/v3'])
})

t.test('equal objects are converted once, different ones each, and an object in its version not at all', async (t) => {
  const asked: unknown[] = []
  const converter: Converter = {
    convert: (given, apiVersion) => {
      asked.push(given.spec)
      return Promise.resolve({ ...given, apiVersion })
    },
  }
  const found = await acrossVersions(converter, (view) => [
    view(object, 'ex.com/v1') === object,
    view({ spec: { size: 1 }, kind: 'Foo', apiVersion: 'ex.com/v1' }, 'ex.com/v2').spec,
    view(object, 'ex.com/v2').spec,
    view({ ...object, spec: { size: 2 } }, 'ex.com/v2').spec,
  ])
  t.strictSame(found, [true, { size: 1 }, { size: 1 }, { size: 2 }])
  t.strictSame(asked, [{ size: 1 }, { size: 2 }])
})

t.test('errors of the computation and of the webhook are thrown', async (t) => {
  const failing: Converter = { convert: () => Promise.reject(new Error('not converted')) }
  await t.rejects(
    acrossVersions(failing, (view) => view(object, 'ex.com/v2')),
    { message: 'not converted' },
  )
  await t.rejects(
    acrossVersions(failing, () => {
      throw new Error('computed wrong')
    }),
    { message: 'computed wrong' },
  )
})
