import { useMemo } from 'react'
import type { ApiView, Definition } from '../../../api/apis/apis.ts'
import { isBelow } from '../../../parts/editors/openapi-place.ts'
import { changesOfFields, placesChanged, type WordedChange } from '../../../parts/review/changes-in-words.ts'
import { Review } from '../../../parts/review/review.tsx'
import { placesOf, SECTIONS, valuesOf } from '../settings/sections.ts'
import { fieldOf, settingsIn } from '../settings/setting.ts'
import { EXTENSION } from './tree.ts'
import type { DefinitionEditor } from './use-definition-editor.tsx'

/** More are counted in the difference. */
const MOST_PLACES = 20

/** The changes of an API that are not saved. */
export default function ApiReview({
  api,
  editor: { binding, loaded },
}: {
  readonly api: ApiView
  readonly editor: DefinitionEditor
}) {
  const { definition } = binding
  const changes = useMemo(() => changesOf(loaded, definition, api.isOas), [loaded, definition, api.isOas])
  return (
    <Review
      changes={changes}
      documents={() => ({ before: loaded, after: definition })}
      object={{ kind: 'api', id: api.id }}
    />
  )
}

/** Settings of the form by their labels; everything else by its place in the definition. */
function changesOf(before: Definition, after: Definition, isOas: boolean): readonly WordedChange[] {
  const fields = SECTIONS.flatMap(({ entries }) => settingsIn(entries, isOas)).map(fieldOf)
  const [old, now] = [valuesOf(before, isOas), valuesOf(after, isOas)]
  const said = changesOfFields(fields, old, now)
  const labels = new Map(fields.map(({ name, label }) => [name, label]))
  const isSaid = new Set(said.map(({ label }) => label))
  const places = SECTIONS.flatMap((section) => placesOf(section, isOas))
    .filter(([name]) => isSaid.has(labels.get(name) ?? ''))
    .map(([, place]) => place)
  const others = placesChanged(before, after, MOST_PLACES).filter(
    (at) => !places.some((place) => isBelow(at, place) || isBelow(place, at)),
  )
  return [...said, ...others.map((at) => ({ label: at.filter((name) => name !== EXTENSION).join('.') }))]
}
