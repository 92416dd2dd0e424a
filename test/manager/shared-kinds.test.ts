import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineOperator, type Operator } from '../../src/manager/operator.ts'
import { checkSharedKinds, kindsOf } from '../../src/manager/shared-kinds.ts'
import { generatedFiles } from '../../src/manifests/tree.ts'

const thing = (maxLength: number, kind = 'Thing', group = 'example.com') =>
  defineKind({ group, kind, versions: [{ name: 'v1', spec: Type.Object({ text: Type.String({ maxLength }) }) }] })
const operator = (name: string, ...kinds: ReturnType<typeof thing>[]): Operator => defineOperator({ name, kinds })

t.test('operators may share a kind with equal definitions', async (t) => {
  const once = thing(1)
  checkSharedKinds([operator('a', once), operator('b', once), operator('c', thing(1), thing(2, 'Other'))])
  const operators = [operator('a', once), operator('b', thing(1), thing(2, 'Other'))]
  t.strictSame(
    kindsOf(operators).map(({ kind }) => kind),
    ['Thing', 'Other'],
  )
  const files = generatedFiles(operators, 'together')
  t.equal(files.get('crd/kustomization.yaml')!.match(/bases\//g)?.length, 2)
})

t.test('kinds of the same name in two groups differ', async (t) => {
  const operators = [operator('a', thing(1)), operator('b', thing(2, 'Thing', 'example.org'))]
  checkSharedKinds(operators)
  t.strictSame(
    kindsOf(operators).map(({ group }) => group),
    ['example.com', 'example.org'],
  )
})

t.test('different definitions of a kind are refused with the names of the operators', async (t) => {
  const operators = [operator('a', thing(1)), operator('b', thing(2))]
  const differ = (other: string): string => `"a" and "${other}" define Thing.example.com differently: define it once, and use it in both`
  const expected = { code: 'PRO_CONFIG_INVALID', message: `These operators cannot run together: ${differ('b')}.` }
  t.throws(() => checkSharedKinds([...operators, operator('c', thing(1)), operator('d', thing(3))]), {
    message: `These operators cannot run together: ${differ('b')}; ${differ('d')}.`,
  })
  t.throws(() => checkSharedKinds(operators), expected)
  t.throws(() => generatedFiles(operators, 'together'), expected)
})
