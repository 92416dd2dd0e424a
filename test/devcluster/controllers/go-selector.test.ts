import t from 'tap'
import { goSelector } from '../../../src/devcluster/controllers/go-selector.ts'

t.test('a selector is printed as Go prints it', async (t) => {
  const matchExpressions = [
    { key: 'a', operator: 'In', values: ['x', 'y'] },
    { key: 'b', operator: 'Exists' },
  ]
  t.equal(
    goSelector({ matchLabels: { tier: 'front', app: 'web' }, matchExpressions }),
    '&LabelSelector{MatchLabels:map[string]string{app: web,tier: front,},MatchExpressions:[]LabelSelectorRequirement{' +
      'LabelSelectorRequirement{Key:a,Operator:In,Values:[x y],},LabelSelectorRequirement{Key:b,Operator:Exists,Values:[],},},}',
  )
  t.equal(goSelector(undefined), 'nil')
})
