"""The plainest claims of an effect in five further languages; other wordings pass."""

from agent_core.agent.claims.contract import Language, Pattern

OTHERS = Language(
    name="other",
    claims=(
        Pattern(
            r"(?:^|[\s¡])(?:he|ya (?:le|te|lo|la)?|te|le|lo he|la he) ?(?:he )?(?:puesto"
            r"|creado|guardado|borrado|eliminado|enviado|envié|guardé|programado|anotado"
            r"|añadido|agregado|cambiado|cancelado|reservado)\b"
        ),
        Pattern(
            r"\b(?:te|le|os) (?:recordaré|avisaré|enviaré|mandaré)\b"
            r"|\bvoy a (?:recordarte|avisarte)\b"
        ),
        Pattern(r"^\W*(?:anotado|guardado|hecho|listo|enviado)\b\W*(?:$|,)|\bya está hecho\b"),
        Pattern(
            r"\bj['’]ai (?:bien )?(?:créé|enregistré|envoyé|supprimé|ajouté|programmé"
            r"|noté|modifié|mis à jour|réservé|annulé|mis en place)\b"
        ),
        Pattern(
            r"\bje (?:te|vous) (?:rappellerai|préviendrai|enverrai|avertirai"
            r"|le rappellerai)\b"
        ),
        Pattern(r"\bc['’]est (?:noté|fait|enregistré|envoyé|programmé)\b"),
        Pattern(
            r"\bho (?:impostato|creato|salvato|inviato|cancellato|eliminato|aggiunto"
            r"|annotato|programmato|prenotato|modificato)\b"
        ),
        Pattern(r"\b(?:ti|vi|le) (?:ricorderò|avviserò|manderò|invierò)\b"),
        Pattern(r"^\W*(?:fatto|salvato|annotato|inviato)\b\W*(?:$|,)"),
        Pattern(
            r"^\W*(?:criei|salvei|anotei|enviei|apaguei|adicionei|agendei|marquei"
            r"|guardei|mandei|cancelei|configurei)\b|\beu (?:criei|salvei|anotei|enviei"
            r"|apaguei|adicionei|agendei)\b"
        ),
        Pattern(
            r"\bvou te (?:lembrar|avisar|enviar)\b|\bvou lembrá-l[oa]\b|\b(?:está"
            r"|ficou) (?:feito|salvo|agendado|anotado)\b"
        ),
        Pattern(
            r"\bik heb .{0,60}\b(?:ingesteld|opgeslagen|verstuurd|gestuurd|verwijderd"
            r"|toegevoegd|genoteerd|ingepland|aangemaakt|gewijzigd)\b"
        ),
        Pattern(r"\bik (?:herinner|waarschuw) (?:je|u)\b|\bik zal (?:je|u) .{0,30}\bherinneren\b"),
        Pattern(r"^\W*(?:genoteerd|geregeld|opgeslagen|verstuurd|klaar)\b\W*(?:$|,)"),
    ),
    honest=(
        Pattern(
            r"\b(?:no|nunca|si|cuando|ayer|ne|n['’]ai|pas|rien|si tu|quand|hier|non|se"
            r"|quando|ieri|não|ontem|niet|niets|geen|als|gisteren|zal ik|voulez|veux"
            r"|vuoi|quer|quieres)\b"
        ),
    ),
)
