import type { JsonObject } from '../../json/json.ts'
import { flagMember, objectMember, refuseMember, textMember } from './portal-fields.ts'

const LONGEST_SLUG = 256
const SEGMENT = /^[A-Za-z0-9._~-]+$/

/**
 * Reads a page of the portal from the wire; unknown members are kept. The slug is the path of the page under the portal: `/`, or
 * words parted by slashes. @throws Fault `portal_invalid` (400) naming the field
 */
export function readPage(sent: JsonObject): JsonObject {
  const { id: _id, _id: _storage, org_id: _org, ...rest } = sent
  return {
    ...rest,
    is_homepage: flagMember(rest, 'is_homepage'),
    slug: readSlug(rest),
    title: textMember(rest, 'title'),
    template_name: textMember(rest, 'template_name', { longest: 128 }),
    fields: objectMember(rest, 'fields'),
  }
}

/** A page as callers see it. */
export function portalPageShape(id: string, { org_id, is_homepage, slug, title, ...rest }: JsonObject): JsonObject {
  return { id, _id: id, org_id: org_id!, is_homepage: is_homepage!, slug: slug!, title: title!, ...rest }
}

function readSlug(sent: JsonObject): string {
  const slug = textMember(sent, 'slug', { longest: LONGEST_SLUG })
  if (slug === '/') return slug
  const segments = slug.replace(/^\//, '').replace(/\/$/, '').split('/')
  if (segments.every((segment) => SEGMENT.test(segment) && !/^\.+$/.test(segment))) return slug
  return refuseMember('slug', 'must be / or words of letters, digits, . _ ~ and -, parted by slashes')
}
